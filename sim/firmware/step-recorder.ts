import type { Loop } from '../../src/core/units.js';
import { CAPTURE_PAGE_SAMPLES, CAPTURE_SAMPLES } from '../../src/protocol/registers.js';
import type { LoopReading } from './unit-loops.js';

/** The excitation that runs now. */
interface Running {
  readonly loop: Loop;
  readonly periodS: number;
}

interface Recording extends Running {
  readonly decimation: number;
  readonly setpoint: number[];
  readonly measured: number[];
  /** Loop periods until the next sample. */
  wait: number;
}

interface Capture extends Omit<Recording, 'wait'> {
  readonly number: number;
}

/** How long a capture is kept after each selection of a page. */
const KEPT_S = 1;

/**
 * Records the loop's answer to each edge of the excitation. The newest complete capture stays readable during the next
 * recording. A capture that is being read is kept, and a newer one replaces it when the reader has finished.
 */
export class StepRecorder {
  readonly #rateHz: number;
  #recording: Recording | undefined;
  #shown: Capture | undefined;
  #next: Capture | undefined;
  #keptTicks = 0;
  #captures = 0;
  #page = 0;

  constructor(rateHz: number) {
    this.#rateHz = rateHz;
  }

  /** The number of the capture that can be read; 0 before the first capture. */
  get number(): number {
    return this.#shown?.number ?? 0;
  }

  /** The loop whose capture can be read; undefined before the first capture. */
  get loop(): Loop | undefined {
    return this.#shown?.loop;
  }

  select(page: number): void {
    this.#page = page;
    this.#keptTicks = KEPT_S * this.#rateHz;
  }

  /** Values of the `capture` frame. */
  header(): Readonly<Record<string, number>> {
    const slot = this.#shown?.loop.slot ?? 0;
    const { number = 0, decimation = 1, setpoint = [] } = this.#shown ?? {};
    return { number, slot, rate_hz: this.#rateHz, decimation, samples: setpoint.length };
  }

  /** Values of the `capture_page` frame. */
  page(): Readonly<Record<string, number>> {
    const { number = 0, setpoint = [], measured = [] } = this.#shown ?? {};
    const values: Record<string, number> = { number, page: this.#page };
    for (let sample = 0; sample < CAPTURE_PAGE_SAMPLES; sample += 1) {
      const place = this.#page * CAPTURE_PAGE_SAMPLES + sample;
      values[`setpoint_${sample}`] = setpoint[place] ?? 0;
      values[`measured_${sample}`] = measured[place] ?? 0;
    }
    return values;
  }

  /**
   * Call once per loop period, with the excited loop before and after it. `edge` is true if the setpoint is new in this
   * period. An excitation that ends or moves to another loop leaves no capture of its last edge, because the response is
   * incomplete.
   */
  tick(running: Running | undefined, before: LoopReading, after: LoopReading, edge: boolean): void {
    if (this.#recording?.loop !== running?.loop) this.#recording = undefined;
    if (edge && running !== undefined) {
      this.#finish();
      this.#begin(running, before);
    }
    this.#record(after);
    this.#keptTicks = Math.max(0, this.#keptTicks - 1);
    if (this.#keptTicks === 0 && this.#next !== undefined) {
      this.#shown = this.#next;
      this.#next = undefined;
    }
  }

  #begin(running: Running, before: LoopReading): void {
    const halfPeriodTicks = Math.round((running.periodS / 2) * this.#rateHz);
    const decimation = Math.max(1, Math.ceil(halfPeriodTicks / CAPTURE_SAMPLES));
    const { setpoint, measured } = before;
    const samples = { setpoint: [setpoint], measured: [measured] };
    this.#recording = { ...running, ...samples, decimation, wait: decimation };
  }

  #record({ setpoint, measured }: LoopReading): void {
    const recording = this.#recording;
    if (recording === undefined) return;
    recording.wait -= 1;
    if (recording.wait > 0) return;
    recording.wait = recording.decimation;
    recording.setpoint.push(setpoint);
    recording.measured.push(measured);
    if (recording.setpoint.length >= CAPTURE_SAMPLES) this.#finish();
  }

  #finish(): void {
    const recording = this.#recording;
    if (recording === undefined) return;
    this.#recording = undefined;
    this.#captures = (this.#captures % 255) + 1;
    this.#next = { ...recording, number: this.#captures };
  }
}
