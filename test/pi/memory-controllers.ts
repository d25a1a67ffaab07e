/**
 * Plays the motor controllers in the virtual Pi, on plain memories at their addresses. Runs as a second process
 * beside the daemon. It passes everything that was written to the simulator's firmware model, and keeps the readable
 * frames up to date. The mechanics do not move.
 */
import { createRequire } from 'node:module';
import type { I2CBus } from 'i2c-bus';
import { SimulatedController } from '../../sim/firmware/simulated-controller.js';
import { standstill } from '../../sim/firmware/unit-loops.js';
import { UNIT_LIST, type Unit } from '../../src/core/units.js';
import {
  frameBytes,
  gainsRegister,
  REGISTERS,
  type Register,
  registerMap,
} from '../../src/protocol/registers.js';

const RATE_HZ = 100;
/** The pause that leaves bus and emulated processor to the daemon for most of the time. */
const PAUSE_MS = 12;
/** The time between two full rounds. The rounds in between check urgent frames only. */
const UPDATE_MS = 250;
/** Replaces each received frame, so that the same frame is noticed when it is written again. */
const WIPED = 0xff;

class MemoryController {
  readonly #bus: I2CBus;
  readonly #unit: Unit;
  readonly #controller: SimulatedController;
  readonly #memory = new Map<Register, Buffer>();
  readonly #registers: readonly Register[];
  #tickedMs = performance.now();

  constructor(bus: I2CBus, unit: Unit) {
    this.#bus = bus;
    this.#unit = unit;
    this.#controller = new SimulatedController(unit, standstill(unit), RATE_HZ);
    // By descending address, so that gains come before the commit that makes them active.
    this.#registers = [...registerMap(unit)].sort((a, b) => b.address - a.address);
    for (const register of this.#registers) {
      if (register.access === 'write') this.#store(register, this.#wiped(register));
      else this.#store(register, this.#shown(register));
    }
  }

  /** Checks commits, stops and modes, because the daemon waits until the status shows them. */
  lookForUrgent(): void {
    if (!this.#read(REGISTERS.commit).equals(this.#wiped(REGISTERS.commit))) {
      // A memory does not show that equal gains were written again, so its content always counts as staged.
      for (const { slot } of this.#unit.loops) this.#write(this.#named(gainsRegister(slot).name));
      this.#take(this.#named('commit'));
    }
    for (const name of ['stop', 'mode']) this.#take(this.#named(name));
    this.#show(this.#named('status'));
  }

  update(): void {
    for (; this.#tickedMs < performance.now(); this.#tickedMs += 1000 / RATE_HZ) this.#controller.tick();
    for (const register of this.#registers) {
      if (register.access !== 'read') this.#take(register);
    }
    for (const register of this.#registers) {
      if (register.access !== 'write') this.#show(register);
    }
  }

  #show(register: Register): void {
    const frame = this.#shown(register);
    if (!frame.equals(this.#memory.get(register) ?? frame)) this.#store(register, frame);
  }

  #take(register: Register): void {
    const found = this.#read(register);
    if (found.equals(this.#memory.get(register) ?? found)) return;
    this.#write(register, found);
    if (register.access === 'write') this.#store(register, this.#wiped(register));
  }

  #write(register: Register, frame = this.#read(register)): void {
    this.#memory.set(register, frame);
    this.#controller.write(register.address, frame);
  }

  #named(name: string): Register {
    const found = this.#registers.find(register => register.name === name);
    if (found === undefined) throw new TypeError(`no register ${name}`);
    return found;
  }

  #shown(register: Register): Buffer {
    return this.#controller.read(register.address, frameBytes(register));
  }

  #wiped(register: Register): Buffer {
    return Buffer.alloc(frameBytes(register), WIPED);
  }

  #read(register: Register): Buffer {
    const found = Buffer.alloc(frameBytes(register));
    this.#bus.readI2cBlockSync(this.#unit.address, register.address, found.length, found);
    return found;
  }

  #store(register: Register, frame: Buffer): void {
    this.#bus.writeI2cBlockSync(this.#unit.address, register.address, frame.length, frame);
    this.#memory.set(register, frame);
  }
}

const i2c: typeof import('i2c-bus') = createRequire('/usr/lib/trunnion/')('i2c-bus');
const bus = i2c.openSync(1);
const present = UNIT_LIST.filter(({ address }) => bus.scanSync(address).length > 0);
const controllers = present.map(unit => new MemoryController(bus, unit));
console.log(`playing ${present.map(({ name }) => name).join(' and ')}`);
for (let updatedMs = 0; ; ) {
  for (const controller of controllers) controller.lookForUrgent();
  if (performance.now() - updatedMs > UPDATE_MS) {
    for (const controller of controllers) controller.update();
    updatedMs = performance.now();
  }
  await new Promise(resolve => setTimeout(resolve, PAUSE_MS));
}
