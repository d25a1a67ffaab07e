import type { Clock } from '../core/clock.js';
import type { MotorController, StatusFrame, StepCapture } from './motor-controller.js';

/** A capture is about 40 pages, read between everything else. */
const CAPTURE_MS = 1500;

/** Reads each new step capture of a controller once. */
export class StepReader {
  readonly #controller: MotorController;
  readonly #clock: Clock;
  /** The newest capture known; its numbers begin anew when the controller does. */
  #known: { readonly bootId: number; readonly number: number } | undefined;

  constructor(controller: MotorController, clock: Clock) {
    this.#controller = controller;
    this.#clock = clock;
  }

  /** Undefined unless the status shows a new capture and it was read; rejects as the bus does. */
  async read({ boot_id: bootId, capture: number }: StatusFrame): Promise<StepCapture | undefined> {
    const isNew = this.#known?.bootId === bootId && this.#known.number !== number;
    this.#known = { bootId, number };
    return isNew ? this.#controller.capture(this.#clock.nowMs() + CAPTURE_MS) : undefined;
  }
}
