import { RobotError } from '../../src/core/errors.js';
import type { OutputPin } from '../../src/hardware/ports.js';

/** The laser's pin. While it fails, its level does not change. */
export class SimulatedPin implements OutputPin {
  #lit = false;
  /** The number of calls that still fail. Infinite until cleared. */
  #failures = 0;

  get level(): 0 | 1 {
    return this.#lit ? 1 : 0;
  }

  write(on: boolean): void {
    this.#failIfFaulty();
    this.#lit = on;
  }

  read(): boolean {
    this.#failIfFaulty();
    return this.#lit;
  }

  fail(count = Number.POSITIVE_INFINITY): void {
    this.#failures = count;
  }

  clear(): void {
    this.#failures = 0;
  }

  #failIfFaulty(): void {
    if (this.#failures <= 0) return;
    this.#failures -= 1;
    throw new RobotError('pin-failed', { simulated: true });
  }
}
