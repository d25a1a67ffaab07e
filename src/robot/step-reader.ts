import type { Clock } from '../core/clock.js';
import { QUANTITIES, type Unit, type UnitName } from '../core/units.js';
import type { Link, Urgency } from '../protocol/link.js';
import { CAPTURE_PAGE_SAMPLES, capturePageRegister, REGISTERS } from '../protocol/registers.js';
import type { StatusFrame } from './status-frame.js';

/** A step response as the controller recorded it, in the loop's quantity. Sample 0 is the last before the edge. */
export interface StepCapture {
  readonly unit: UnitName;
  readonly loop: string;
  readonly number: number;
  readonly rateHz: number;
  readonly decimation: number;
  readonly setpoint: readonly number[];
  readonly measured: readonly number[];
}

/** Reading out a capture takes at most this long: it has about 40 pages, and everything else on the bus comes first. */
const CAPTURE_MS = 1500;

/** Reads each new step capture of a controller once. */
export class StepReader {
  readonly #unit: Unit;
  readonly #link: Link;
  readonly #clock: Clock;
  readonly #captured: (capture: StepCapture) => void;
  /**
   * The newest capture that the status showed. A controller that starts anew counts from the beginning, so its boot id
   * belongs to the number.
   */
  #known: { readonly bootId: number; readonly number: number } | undefined;

  constructor(options: {
    unit: Unit;
    link: Link;
    clock: Clock;
    stepCaptured: (capture: StepCapture) => void;
  }) {
    this.#unit = options.unit;
    this.#link = options.link;
    this.#clock = options.clock;
    this.#captured = options.stepCaptured;
  }

  /** Reads the capture if the status shows a new one. Rejects as the bus does. */
  async read({ boot_id: bootId, capture: number }: StatusFrame): Promise<void> {
    const isNew = this.#known?.bootId === bootId && this.#known.number !== number;
    this.#known = { bootId, number };
    if (isNew) await this.#capture();
  }

  async #capture(): Promise<void> {
    const { name: unit, address, loops } = this.#unit;
    const urgency: Urgency = { priority: 'capture', untilMs: this.#clock.nowMs() + CAPTURE_MS };
    await this.#link.write(address, REGISTERS.capture_select, { page: 0 }, urgency);
    const head = await this.#link.read(address, REGISTERS.capture, urgency);
    const loop = loops.find(candidate => candidate.slot === head.slot);
    if (loop === undefined) return;
    const register = capturePageRegister(QUANTITIES[loop.quantity].countsPerUnit);
    const setpoint: number[] = [];
    const measured: number[] = [];
    for (let page = 0; page * CAPTURE_PAGE_SAMPLES < head.samples; page += 1) {
      await this.#link.write(address, REGISTERS.capture_select, { page }, urgency);
      const values: Record<string, number> = await this.#link.read(address, register, urgency);
      // A newer capture took its place.
      if (values.number !== head.number || values.page !== page) return;
      for (let sample = 0; sample < CAPTURE_PAGE_SAMPLES && setpoint.length < head.samples; sample += 1) {
        setpoint.push(values[`setpoint_${sample}`] ?? 0);
        measured.push(values[`measured_${sample}`] ?? 0);
      }
    }
    const { number, rate_hz: rateHz, decimation } = head;
    this.#captured({ unit, loop: loop.name, number, rateHz, decimation, setpoint, measured });
  }
}
