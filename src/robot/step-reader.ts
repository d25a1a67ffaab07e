import type { Clock } from '../core/clock.js';
import type { MotorController, StepCapture } from './motor-controller.js';

/** A capture is about 40 pages, read between everything else. */
const CAPTURE_MS = 1500;

/** Reads each new step capture of a controller once. */
export class StepReader {
  readonly #controller: MotorController;
  readonly #clock: Clock;
  /** Of the newest one known; undefined until the controller was heard from. */
  #known: number | undefined;

  constructor(controller: MotorController, clock: Clock) {
    this.#controller = controller;
    this.#clock = clock;
  }

  /** `number` is what status shows. Undefined unless a new one was read; rejects as the bus does. */
  async read(number: number): Promise<StepCapture | undefined> {
    const isNew = this.#known !== undefined && number !== this.#known;
    this.#known = number;
    return isNew ? this.#controller.capture(this.#clock.nowMs() + CAPTURE_MS) : undefined;
  }

  /** After a reset of the controller its numbers begin anew. */
  forget(): void {
    this.#known = undefined;
  }
}
