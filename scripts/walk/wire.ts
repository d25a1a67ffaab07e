import { RobotError } from '../../src/core/errors.js';
import { UNIT_LIST, type UnitName } from '../../src/core/units.js';
import type { I2cBus } from '../../src/hardware/ports.js';
import { decodeFrame } from '../../src/protocol/codec.js';
import { registerMap } from '../../src/protocol/registers.js';
import type { ManualClock } from '../../test/support/manual-clock.js';

/** A frame that the daemon began to write, whatever became of it. */
export interface Frame {
  readonly unit: UnitName;
  readonly register: string;
  readonly values: Readonly<Record<string, number>>;
}

export interface WireWatch {
  wrote(frame: Frame): void;
  /** The controllers may have changed. */
  settled(): void;
}

/** The bus in simulated time: each transaction takes a while, and its effect comes at its end. */
export class Wire {
  readonly #bus: I2cBus;
  readonly #clock: ManualClock;
  readonly #frameMs: number;
  readonly #watch: WireWatch;
  #last: Promise<unknown> = Promise.resolve();
  #underWay = 0;
  /** So many of the next writes are heard, and seem to fail. */
  lostAnswers = 0;

  constructor(options: { bus: I2cBus; clock: ManualClock; frameMs: number; watch: WireWatch }) {
    this.#bus = options.bus;
    this.#clock = options.clock;
    this.#frameMs = options.frameMs;
    this.#watch = options.watch;
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
      writeBlock: (address, register, data) => {
        const frame = decoded(address, register, data);
        if (frame !== undefined) this.#watch.wrote(frame);
        return this.#transact(async () => {
          await this.#bus.writeBlock(address, register, data);
          if (this.lostAnswers === 0) return;
          this.lostAnswers -= 1;
          throw new RobotError('nack', { address });
        });
      },
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
        this.#watch.settled();
      }
    })();
    this.#last = transaction.catch(() => undefined);
    return transaction;
  }

  #wait(): Promise<void> {
    return new Promise(resolve => this.#clock.after(this.#frameMs, resolve));
  }
}

function decoded(address: number, at: number, data: Buffer): Frame | undefined {
  const unit = UNIT_LIST.find(one => one.address === address);
  const register = unit && registerMap(unit).find(one => one.address === at && one.access !== 'read');
  if (unit === undefined || register === undefined) return undefined;
  return { unit: unit.name, register: register.name, values: decodeFrame(address, register, data) };
}
