import { pause } from '../../src/core/clock.js';
import { RobotError } from '../../src/core/errors.js';
import { UNIT_LIST, type UnitName } from '../../src/core/units.js';
import type { I2cBus } from '../../src/hardware/ports.js';
import { decodeFrame } from '../../src/protocol/codec.js';
import { registerMap } from '../../src/protocol/registers.js';
import type { ManualClock } from '../support/manual-clock.js';

/** A frame that the daemon began to write. It may have failed. */
export interface Frame {
  readonly unit: UnitName;
  readonly register: string;
  readonly values: Readonly<Record<string, number>>;
}

export interface BusWatch {
  wrote(frame: Frame): void;
  /** Called after the controllers may have changed. */
  changed(): void;
}

/**
 * The bus in simulated time. A transaction takes `frameMs`, and takes effect at its end. If a daemon was killed during a
 * call, the next daemon's first call waits until the kernel has ended that call.
 */
export class TimedBus implements I2cBus {
  readonly #bus: I2cBus;
  readonly #clock: ManualClock;
  readonly #frameMs: number;
  readonly #watch: BusWatch;
  #last: Promise<unknown> = Promise.resolve();
  #underWay = 0;
  /** The number of next writes that reach the controller but are reported as failed. */
  lostAnswers = 0;

  constructor(options: { bus: I2cBus; clock: ManualClock; frameMs: number; watch: BusWatch }) {
    this.#bus = options.bus;
    this.#clock = options.clock;
    this.#frameMs = options.frameMs;
    this.#watch = options.watch;
  }

  /** True while the kernel is in a call, even if the daemon that made it is dead. */
  get busy(): boolean {
    return this.#underWay > 0;
  }

  readBlock(address: number, register: number, length: number): Promise<Buffer> {
    return this.#transact(() => this.#bus.readBlock(address, register, length));
  }

  writeBlock(address: number, register: number, data: Buffer): Promise<void> {
    const frame = decoded(address, register, data);
    if (frame !== undefined) this.#watch.wrote(frame);
    return this.#transact(async () => {
      await this.#bus.writeBlock(address, register, data);
      if (this.lostAnswers === 0) return;
      this.lostAnswers -= 1;
      throw new RobotError('nack', { address });
    });
  }

  #transact<T>(call: () => Promise<T>): Promise<T> {
    const before = this.#last;
    this.#underWay += 1;
    const transaction = (async () => {
      await before;
      await pause(this.#clock, this.#frameMs);
      try {
        return await call();
      } finally {
        this.#underWay -= 1;
        this.#watch.changed();
      }
    })();
    this.#last = transaction.catch(() => undefined);
    return transaction;
  }
}

function decoded(address: number, at: number, data: Buffer): Frame | undefined {
  const unit = UNIT_LIST.find(one => one.address === address);
  const register = unit && registerMap(unit).find(one => one.address === at && one.access !== 'read');
  if (unit === undefined || register === undefined) return undefined;
  return { unit: unit.name, register: register.name, values: decodeFrame(address, register, data) };
}
