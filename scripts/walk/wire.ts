import type { I2cBus } from '../../src/hardware/ports.js';
import type { WalkClock } from './walk-clock.js';

/** The bus in simulated time: each transaction takes a while, and its effect comes at its end. */
export class Wire {
  readonly #bus: I2cBus;
  readonly #clock: WalkClock;
  readonly #frameMs: number;
  readonly #ended: () => void;
  #last: Promise<unknown> = Promise.resolve();
  #underWay = 0;

  /** `ended`: after each transaction, when the controllers may have changed. */
  constructor(options: { bus: I2cBus; clock: WalkClock; frameMs: number; ended: () => void }) {
    this.#bus = options.bus;
    this.#clock = options.clock;
    this.#frameMs = options.frameMs;
    this.#ended = options.ended;
  }

  /** The kernel is in a call, whether or not its daemon lives. */
  get busy(): boolean {
    return this.#underWay > 0;
  }

  /** As one daemon sees it. The kernel ends a dead daemon's call, and only then begins one of the next. */
  port(): I2cBus {
    return {
      readBlock: (address, register, length) =>
        this.#transact(() => this.#bus.readBlock(address, register, length)),
      writeBlock: (address, register, data) =>
        this.#transact(() => this.#bus.writeBlock(address, register, data)),
    };
  }

  #transact<T>(call: () => Promise<T>): Promise<T> {
    const before = this.#last;
    this.#underWay += 1;
    const transaction = (async () => {
      await before.catch(() => undefined);
      await this.#wait();
      try {
        return await call();
      } finally {
        this.#underWay -= 1;
        this.#ended();
      }
    })();
    this.#last = transaction.catch(() => undefined);
    return transaction;
  }

  #wait(): Promise<void> {
    return new Promise(resolve => this.#clock.after(this.#frameMs, resolve));
  }
}
