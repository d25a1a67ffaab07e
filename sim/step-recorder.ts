import { CAPTURE_SAMPLES } from '../src/protocol/registers.js';
import type { LoopReading } from './unit-loops.js';

export interface StepRecord {
  readonly number: number;
  readonly slot: number;
  readonly decimation: number;
  readonly setpoint: readonly number[];
  readonly measured: readonly number[];
}

/** A record that was selected for reading is not replaced for so long. */
const KEPT_S = 1;

interface Recording {
  readonly slot: number;
  readonly decimation: number;
  readonly setpoint: number[];
  readonly measured: number[];
  wait: number;
}

/** Records the loop's answer to each edge of the excitation; the newest whole record stays readable meanwhile. */
export class StepRecorder {
  newest: StepRecord | undefined;
  readonly #rateHz: number;
  #recording: Recording | undefined;
  #keptTicks = 0;
  #before: LoopReading = { setpoint: 0, measured: 0, output: 0 };

  constructor(rateHz: number) {
    this.#rateHz = rateHz;
  }

  select(): void {
    this.#keptTicks = KEPT_S * this.#rateHz;
  }

  /** Once per loop period, with what the excited loop shows; `edge` in the period whose setpoint is the new one. */
  tick(reading: LoopReading, edge: boolean, slot: number, periodS: number): void {
    this.#keptTicks = Math.max(0, this.#keptTicks - 1);
    if (edge) {
      this.#finish();
      const halfPeriodTicks = (periodS / 2) * this.#rateHz;
      this.#recording = {
        slot,
        decimation: Math.max(1, Math.ceil(halfPeriodTicks / CAPTURE_SAMPLES)),
        setpoint: [this.#before.setpoint],
        measured: [this.#before.measured],
        wait: 0,
      };
    }
    this.#before = { ...reading };
    this.#record(reading);
  }

  #record(reading: LoopReading): void {
    const recording = this.#recording;
    if (recording === undefined) return;
    if (recording.wait > 0) {
      recording.wait -= 1;
      return;
    }
    recording.wait = recording.decimation - 1;
    recording.setpoint.push(reading.setpoint);
    recording.measured.push(reading.measured);
    if (recording.setpoint.length >= CAPTURE_SAMPLES) this.#finish();
  }

  #finish(): void {
    const recording = this.#recording;
    this.#recording = undefined;
    if (recording === undefined || this.#keptTicks > 0) return;
    const { slot, decimation, setpoint, measured } = recording;
    this.newest = { number: ((this.newest?.number ?? 0) % 255) + 1, slot, decimation, setpoint, measured };
  }
}
