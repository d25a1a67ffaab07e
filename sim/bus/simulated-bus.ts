import type { Clock } from '../../src/core/clock.js';
import { type ErrorCode, RobotError } from '../../src/core/errors.js';
import type { UnitName } from '../../src/core/units.js';
import type { I2cBus } from '../../src/hardware/ports.js';
import type { Controller } from '../firmware/simulated-controller.js';
import type { BusFault } from './faults.js';

/** The errno that a Pi's adapter reports. */
const ERRNO = { nack: 121, 'bus-timeout': 110 } as const satisfies Partial<Record<ErrorCode, number>>;
/**
 * The duration of a transaction that times out. A Pi's adapter takes about 1 s. It is shorter here, so that a faulty
 * unit leaves most of the time to the other unit.
 */
const TIMEOUT_MS = 30;
const MAX_BLOCK_BYTES = 32;

type Target = UnitName | 'bus';

interface Standing {
  readonly fault: BusFault;
  /** The number of transactions that the fault still affects. */
  left: number;
}

interface Stuck {
  readonly target: Target;
  readonly hangs: boolean;
  release(): void;
}

interface SimulatedBusOptions {
  readonly controllers: readonly Controller[];
  readonly clock: Clock;
  /** Advances the simulation to the present. */
  readonly beforeEach: () => void;
}

/** The I2C bus between the host and the simulated controllers, with faults on request. */
export class SimulatedBus implements I2cBus {
  readonly #options: SimulatedBusOptions;
  readonly #standing = new Map<Target, Standing[]>();
  /** The number of transactions that each unplugged unit still leaves unanswered. */
  readonly #unplugged = new Map<UnitName, number>();
  #stuck: Stuck | undefined;
  #inFlight = false;
  #closed = false;

  constructor(options: SimulatedBusOptions) {
    this.#options = options;
  }

  readBlock(address: number, register: number, length: number): Promise<Buffer> {
    return this.#transact(address, register, length, (controller, corrupt) => {
      const data = controller.read(register, length);
      return corrupt ? flipped(data) : data;
    });
  }

  writeBlock(address: number, register: number, data: Buffer): Promise<void> {
    return this.#transact(address, register, data.length, (controller, corrupt) => {
      controller.write(register, corrupt ? flipped(data) : data);
    });
  }

  /**
   * Affects the next `count` transactions, or all until the fault is cleared. Of several faults, the latest one happens first.
   */
  inject(target: Target, fault: BusFault, count = Number.POSITIVE_INFINITY): void {
    const others = (this.#standing.get(target) ?? []).filter(one => one.fault !== fault);
    this.#standing.set(target, [{ fault, left: count }, ...others]);
  }

  /** The unit no longer answers, but keeps running. */
  unplug(unit: UnitName, count = Number.POSITIVE_INFINITY): void {
    this.#unplugged.set(unit, count);
  }

  plug(unit: UnitName): void {
    this.#unplugged.delete(unit);
  }

  /** Ends the target's faults. Clearing the bus ends the faults of all units too. Hanging transactions fail now. */
  clear(target: Target): void {
    if (target === 'bus') {
      this.#standing.clear();
      this.#unplugged.clear();
    } else {
      this.#standing.delete(target);
      this.plug(target);
    }
    if (this.#stuck?.hangs && (target === 'bus' || target === this.#stuck.target)) this.#stuck.release();
  }

  close(): void {
    this.#closed = true;
    this.#stuck?.release();
  }

  async #transact<T>(
    address: number,
    register: number,
    length: number,
    act: (controller: Controller, corrupt: boolean) => T,
  ): Promise<T> {
    if (this.#closed) throw new RobotError('bus-closed');
    if (length < 1 || length > MAX_BLOCK_BYTES)
      throw new RobotError('bus-failed', { address, register, length });
    if (this.#inFlight) {
      throw new RobotError('bus-failed', { address, register, reason: 'two transactions at a time' });
    }
    this.#inFlight = true;
    try {
      await new Promise(resolve => setImmediate(resolve));
      const { controllers, beforeEach } = this.#options;
      beforeEach();
      const controller = controllers.find(one => one.unit.address === address);
      const unit = controller?.unit.name;
      const answers = unit !== undefined && this.#answers(unit);
      const target = this.#standing.get('bus')?.length || !answers ? 'bus' : unit;
      const fault = this.#hit(target);
      if (fault === 'timeout' || fault === 'hang') {
        await this.#stickBy(target, fault === 'hang');
        throw failure('bus-timeout', address, register);
      }
      if (controller === undefined || !answers || fault === 'nack') throw failure('nack', address, register);
      return act(controller, fault === 'corrupt');
    } finally {
      this.#inFlight = false;
    }
  }

  #answers(unit: UnitName): boolean {
    const left = this.#unplugged.get(unit);
    if (left === undefined) return true;
    if (left > 1) this.#unplugged.set(unit, left - 1);
    else this.plug(unit);
    return false;
  }

  #hit(target: Target): BusFault | undefined {
    const standing = this.#standing.get(target) ?? [];
    const [first] = standing;
    if (first === undefined) return undefined;
    first.left -= 1;
    if (first.left <= 0) standing.shift();
    return first.fault;
  }

  /** Blocks the bus: until `clear` if it hangs, otherwise until the adapter times out. */
  async #stickBy(target: Target, hangs: boolean): Promise<void> {
    await new Promise<void>(resolve => {
      const timer = hangs ? undefined : this.#options.clock.after(TIMEOUT_MS, resolve);
      const release = () => {
        timer?.cancel();
        resolve();
      };
      this.#stuck = { target, hangs, release };
    });
    this.#stuck = undefined;
  }
}

function failure(code: keyof typeof ERRNO, address: number, register: number): RobotError {
  return new RobotError(code, { errno: ERRNO[code], address, register });
}

function flipped(data: Buffer): Buffer {
  const copy = Buffer.from(data);
  copy.writeUInt8(copy.readUInt8(0) ^ 0x10, 0);
  return copy;
}
