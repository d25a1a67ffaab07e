import type { Clock } from '../core/clock.js';
import { RobotError } from '../core/errors.js';

/** Performs one act at a time, in order of arrival. Whoever would have to wait too long is refused with `unit-busy`. */
export class Turns {
  readonly #clock: Clock;
  readonly #unit: string;
  #last: Promise<unknown> = Promise.resolve();
  #taken = 0;

  constructor(clock: Clock, unit: string) {
    this.#clock = clock;
    this.#unit = unit;
  }

  get idle(): boolean {
    return this.#taken === 0;
  }

  take<T>(untilMs: number, act: () => Promise<T>): Promise<T> {
    this.#taken += 1;
    let refused = false;
    const before = this.#last;
    const own = before.then(() => {
      if (refused) throw new RobotError('unit-busy', { unit: this.#unit });
      return act();
    });
    const end = () => {
      this.#taken -= 1;
    };
    this.#last = own.then(end, end);
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
