import { RobotError } from '../../src/core/errors.js';
import { UNIT_LIST } from '../../src/core/units.js';
import type { Hardware, I2cBus, OutputPin } from '../../src/hardware/ports.js';
import { bitsOnTheWire } from '../generate/bus-load.js';
import { MemoryController } from './memory-controller.js';
import type { WireTime } from './wire-time.js';

/** Bus and pin in memory, both units on the bus. Without `wire` a transaction takes one turn of the event loop. */
export class MemoryHardware implements Hardware {
  readonly simulated = true;
  readonly bus: I2cBus;
  readonly laser: OutputPin;

  constructor(wire: WireTime | undefined) {
    let isLit = false;
    this.laser = {
      write: isOn => {
        isLit = isOn;
      },
      read: () => isLit,
    };
    const controllers = new Map(UNIT_LIST.map(unit => [unit.address, new MemoryController(unit)]));
    const transact = async (
      direction: 'read' | 'write',
      address: number,
      register: number,
      bytes: number,
    ) => {
      if (wire === undefined) await new Promise(resolve => setImmediate(resolve));
      else await wire.take(bitsOnTheWire(direction, bytes));
      const controller = controllers.get(address);
      if (controller === undefined) throw new RobotError('nack', { address, register });
      return controller;
    };
    this.bus = {
      readBlock: async (address, register, bytes) =>
        (await transact('read', address, register, bytes)).read(register, bytes),
      writeBlock: async (address, register, data) =>
        (await transact('write', address, register, data.length)).write(register, data),
    };
  }

  async close(): Promise<void> {}
}
