import type { Clock } from '../core/clock.js';
import { RobotError } from '../core/errors.js';

/** Performs one act at a time, in order of arrival. Whoever would have to wait too long is refused with `unit-busy`. */
export class Turns {
  readonly #clock: Clock;
  readonly #unit: string;
  #last: Promise<unknown> = Promise.resolve();

  constructor(clock: Clock, unit: string) {
    this.#clock = clock;
    this.#unit = unit;
  }

  take<T>(untilMs: number, act: () => Promise<T>): Promise<T> {
    let refused = false;
    const before = this.#last;
    const own = before.then(() => {
      if (refused) throw new RobotError('unit-busy', { unit: this.#unit });
      return act();
    });
    this.#last = own.catch(() => undefined);
    const patience = new Promise<never>((_, reject) => {
      const timer = this.#clock.after(Math.max(0, untilMs - this.#clock.nowMs()), () => {
        refused = true;
        reject(new RobotError('unit-busy', { unit: this.#unit }));
      });
      void before.then(() => timer.cancel());
    });
    return Promise.race([own, patience]);
  }
}
