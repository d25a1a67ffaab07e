import { SimulatedController } from '../../sim/firmware/simulated-controller.js';
import { standstill } from '../../sim/firmware/unit-loops.js';
import type { Unit } from '../../src/core/units.js';
import {
  frameBytes,
  REGISTERS,
  type Register,
  registerMap,
  SPACE_BYTES,
} from '../../src/protocol/registers.js';

const RATE_HZ = 1000;
/** A commit or a mode is in force after this many ticks of the firmware. */
const TICKS_TO_TAKE_EFFECT = 20;

/**
 * A motor controller that takes almost no processor time. It answers reads from 256 bytes of memory. The firmware
 * runs only after a write that is not a heartbeat. Nothing moves, and no time passes between writes.
 */
export class MemoryController {
  readonly #memory = Buffer.alloc(2 * SPACE_BYTES);
  readonly #controller: SimulatedController;
  /** The latest heartbeat, if the firmware has not received it yet. */
  #heartbeat: Buffer | undefined;
  readonly #readable: readonly Register[];
  /** The registers whose memory is up to date. */
  readonly #shown = new Set<Register>();

  constructor(unit: Unit) {
    this.#controller = new SimulatedController(unit, standstill(unit), RATE_HZ);
    this.#readable = registerMap(unit).filter(register => register.access !== 'write');
  }

  read(address: number, length: number): Buffer {
    this.#show(address, address + length);
    return Buffer.from(this.#memory.subarray(address, address + length));
  }

  write(address: number, data: Buffer): void {
    if (address === REGISTERS.heartbeat.address) {
      this.#heartbeat = data;
      return;
    }
    if (this.#heartbeat !== undefined) this.#controller.write(REGISTERS.heartbeat.address, this.#heartbeat);
    this.#controller.write(address, data);
    for (let ticks = 0; ticks < TICKS_TO_TAKE_EFFECT; ticks += 1) this.#controller.tick();
    this.#shown.clear();
  }

  /** Copies the registers between these addresses from the firmware. */
  #show(start: number, end: number): void {
    for (const register of this.#readable) {
      const { address } = register;
      const bytes = frameBytes(register);
      if (address >= end || address + bytes <= start || this.#shown.has(register)) continue;
      this.#controller.read(address, bytes).copy(this.#memory, address);
      this.#shown.add(register);
    }
  }
}
