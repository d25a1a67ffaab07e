import { RobotError } from '../../src/core/errors.js';
import { UNIT_LIST } from '../../src/core/units.js';
import type { Hardware, I2cBus } from '../../src/hardware/ports.js';
import { MemoryController } from './memory-controller.js';
import { bitsOnTheWire, type WireTime } from './wire-time.js';

/** One transaction as the wire saw it. */
export interface Transaction {
  readonly address: number;
  readonly register: number;
  readonly direction: 'read' | 'write';
  readonly dataBytes: number;
}

/** Kept for those who ask what went over the wire and when the pin went dark: the newest of them. */
const KEPT = 20_000;

/** Bus and pin in memory, both units on the bus. Without `wire` a transaction takes one turn of the event loop. */
export class MemoryHardware implements Hardware {
  readonly simulated = true;
  readonly bus: I2cBus;
  readonly laser = { write: (on: boolean) => this.#write(on), read: () => this.#lit };
  #lit = false;
  /** Nobody asks in most measurements, which are not to pay for it. */
  #transactions: Transaction[] | undefined;
  #darkAtNs: bigint[] | undefined;

  constructor(wire?: WireTime) {
    const controllers = new Map(UNIT_LIST.map(unit => [unit.address, new MemoryController(unit)]));
    const transact = async (transaction: Transaction) => {
      const { address, register } = transaction;
      if (this.#transactions !== undefined && this.#transactions.length < KEPT)
        this.#transactions.push(transaction);
      if (wire === undefined) await new Promise(resolve => setImmediate(resolve));
      else await wire.take(bitsOnTheWire(transaction.direction, transaction.dataBytes));
      const controller = controllers.get(address);
      if (controller === undefined) throw new RobotError('nack', { address, register });
      return controller;
    };
    this.bus = {
      readBlock: async (address, register, dataBytes) =>
        (await transact({ address, register, direction: 'read', dataBytes })).read(register, dataBytes),
      writeBlock: async (address, register, data) =>
        (await transact({ address, register, direction: 'write', dataBytes: data.length })).write(
          register,
          data,
        ),
    };
  }

  /** The transactions since this was last asked; none at the first time. */
  takeTransactions(): Transaction[] {
    const taken = this.#transactions ?? [];
    this.#transactions = [];
    return taken;
  }

  /** The instants at which the pin went from lit to dark since this was last asked, on the machine's monotonic clock. */
  takeDarkAtNs(): bigint[] {
    const taken = this.#darkAtNs ?? [];
    this.#darkAtNs = [];
    return taken;
  }

  async close(): Promise<void> {}

  #write(on: boolean): void {
    if (this.#lit && !on) this.#darkAtNs?.push(process.hrtime.bigint());
    this.#lit = on;
  }
}
