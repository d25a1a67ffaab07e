import type { Clock, Timer } from '../src/clock.js';
import { type ErrorCode, RobotError } from '../src/errors.js';
import type { I2cBus } from '../src/hardware/ports.js';
import type { SimulatedController } from './controller.js';

/** What can go wrong with transactions, of one unit or of all. */
export type BusFault = 'unplug' | 'nack' | 'timeout' | 'corrupt' | 'hang';

/** errno as a Pi's adapter gives it. */
const ERRNO = { nack: 121, 'bus-timeout': 110 } as const;
/** A Pi's adapter takes about 1 s. Shorter here, so that one faulty unit leaves the bus to the other for most of the time. */
const TIMEOUT_MS = 30;
const ALL = 'bus';

interface Standing {
  readonly fault: BusFault;
  /** Transactions still to be hit; undefined = until cleared. */
  left: number | undefined;
}

/** The I2C bus between the host and the simulated controllers, with what can go wrong on it. */
export class SimulatedBus implements I2cBus {
  readonly #controllers: ReadonlyMap<number, SimulatedController>;
  readonly #clock: Clock;
  readonly #beforeEach: () => void;
  readonly #standing = new Map<string, Standing[]>();
  readonly #hung = new Set<() => void>();
  readonly #timers = new Set<Timer>();
  #inFlight = false;
  #closed = false;

  /** `beforeEach` brings the world to the present. */
  constructor(options: {
    controllers: readonly SimulatedController[];
    clock: Clock;
    beforeEach: () => void;
  }) {
    this.#controllers = new Map(options.controllers.map(one => [one.unit.address, one]));
    this.#clock = options.clock;
    this.#beforeEach = options.beforeEach;
  }

  readBlock(address: number, register: number, length: number): Promise<Buffer> {
    return this.#transact(address, length, (controller, corrupt) => {
      const frame = controller.read(register, length);
      return corrupt ? flipped(frame) : frame;
    });
  }

  async writeBlock(address: number, register: number, data: Buffer): Promise<void> {
    await this.#transact(address, data.length, (controller, corrupt) => {
      controller.write(register, corrupt ? flipped(data) : data);
    });
  }

  /** `target` is a unit's name or `bus`; the fault hits the next `count` transactions, or all until cleared. */
  inject(target: string, fault: BusFault, count?: number): void {
    this.clear(target, fault);
    this.#standing.set(target, [...(this.#standing.get(target) ?? []), { fault, left: count }]);
  }

  /** Ends one fault of the target, or all of its faults; of the bus, everything. */
  clear(target: string, fault?: BusFault): void {
    if (fault !== undefined) {
      const others = (this.#standing.get(target) ?? []).filter(one => one.fault !== fault);
      this.#standing.set(target, others);
      return;
    }
    if (target === ALL) this.#standing.clear();
    else this.#standing.delete(target);
    for (const release of this.#hung) release();
  }

  close(): void {
    this.#closed = true;
    for (const timer of this.#timers) timer.cancel();
    for (const release of this.#hung) release();
  }

  async #transact<T>(
    address: number,
    length: number,
    act: (controller: SimulatedController, corrupt: boolean) => T,
  ): Promise<T> {
    if (this.#closed) throw new RobotError('bus-closed');
    if (length < 1 || length > 32)
      throw new RobotError('bus-failed', { reason: 'an SMBus block has 1 to 32 bytes' });
    if (this.#inFlight) throw new RobotError('bus-failed', { reason: 'two transactions at a time' });
    this.#inFlight = true;
    try {
      await new Promise(resolve => setImmediate(resolve));
      this.#beforeEach();
      const controller = this.#controllers.get(address);
      if (controller === undefined) throw failure('nack');
      const fault = this.#nextFault(controller.unit.name);
      if (fault === 'nack' || fault === 'unplug') throw failure('nack');
      if (fault === 'timeout') throw await this.#timedOut();
      if (fault === 'hang') throw await this.#hang();
      return act(controller, fault === 'corrupt');
    } finally {
      this.#inFlight = false;
    }
  }

  #nextFault(unit: string): BusFault | undefined {
    for (const target of [unit, ALL]) {
      const [first] = this.#standing.get(target) ?? [];
      if (first === undefined) continue;
      if (first.left !== undefined) {
        first.left -= 1;
        if (first.left <= 0) this.clear(target, first.fault);
      }
      return first.fault;
    }
    return undefined;
  }

  #timedOut(): Promise<RobotError> {
    return new Promise(resolve => {
      const timer = this.#clock.after(TIMEOUT_MS, () => {
        this.#timers.delete(timer);
        resolve(failure('bus-timeout'));
      });
      this.#timers.add(timer);
    });
  }

  #hang(): Promise<RobotError> {
    return new Promise(resolve => {
      const release = () => {
        this.#hung.delete(release);
        resolve(failure('bus-timeout'));
      };
      this.#hung.add(release);
    });
  }
}

function failure(code: keyof typeof ERRNO & ErrorCode): RobotError {
  return new RobotError(code, { errno: ERRNO[code] });
}

function flipped(frame: Buffer): Buffer {
  const copy = Buffer.from(frame);
  copy.writeUInt8(copy.readUInt8(0) ^ 0x10, 0);
  return copy;
}
