import { SimulatedController } from '../../sim/firmware/simulated-controller.js';
import { defaultGains, type GainSet, MODES, type UnitName, unitNamed } from '../../src/core/units.js';
import { bitNames, decodeFrame, encodeFrame, gainsChecksum } from '../../src/protocol/codec.js';
import {
  FAULTS,
  type FieldValues,
  FLAGS,
  frameBytes,
  gainsRegister,
  REGISTERS,
  type Register,
} from '../../src/protocol/registers.js';
import { ScriptedLoops } from './scripted-loops.js';

/** A controller and what a host does with it, without a bus between. */
export class ControllerHost {
  readonly unit;
  readonly loops: ScriptedLoops;
  readonly controller: SimulatedController;

  constructor(name: UnitName = 'gimbal') {
    this.unit = unitNamed(name);
    this.loops = new ScriptedLoops(this.unit);
    this.controller = new SimulatedController(this.unit, this.loops, 1000);
  }

  read<R extends Register>(register: R): FieldValues<R> {
    const frame = this.controller.read(register.address, frameBytes(register));
    return decodeFrame(this.unit.address, register, frame);
  }

  write<R extends Register>(register: R, values: FieldValues<R>): void {
    this.controller.write(register.address, encodeFrame(this.unit.address, register, values));
  }

  status() {
    const { mode, flags, faults, ...rest } = this.read(REGISTERS.status);
    return { ...rest, mode: MODES[mode], flags: bitNames(FLAGS, flags), faults: bitNames(FAULTS, faults) };
  }

  tick(count = 1): void {
    for (let done = 0; done < count; done += 1) this.controller.tick();
  }

  stage(gains: GainSet = defaultGains(this.unit)): void {
    for (const loop of this.unit.loops) {
      const triple = gains[loop.name];
      if (triple !== undefined) this.write(gainsRegister(loop.slot), { ...triple });
    }
  }

  commit(gains: GainSet = defaultGains(this.unit)): void {
    this.write(REGISTERS.commit, { checksum: gainsChecksum(this.unit, gains) });
  }

  enter(mode: (typeof MODES)[number]): void {
    this.write(REGISTERS.mode, { mode: MODES.indexOf(mode) });
  }

  heartbeat(silence_ms = 500): void {
    this.write(REGISTERS.heartbeat, { count: 1, silence_ms });
  }

  excite(slot: number, amplitude: number, period_s: number): void {
    this.write(REGISTERS.excitation, { slot, amplitude, period_s });
  }
}
