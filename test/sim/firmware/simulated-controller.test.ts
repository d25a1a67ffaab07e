import { expect } from 'chai';
import { SimulatedController } from '../../../sim/firmware/simulated-controller.js';
import { defaultGains, unitNamed } from '../../../src/core/units.js';
import { bitNames, decodeFrame, encodeFrame, gainsChecksum } from '../../../src/protocol/codec.js';
import {
  FAULTS,
  type FieldValues,
  frameBytes,
  gainsRegister,
  REGISTERS,
  type Register,
} from '../../../src/protocol/registers.js';
import { ScriptedLoops } from '../../support/scripted-loops.js';

const unit = unitNamed('gimbal');

/* Cases that the comparison with the C core cannot find. The comparison sends random frames to both, and compares
   every answer byte by byte: see scripts/firmware/check. */
describe('the simulated firmware', () => {
  const loops = new ScriptedLoops(unit);
  const controller = new SimulatedController(unit, loops, 1000);
  const write = <R extends Register>(register: R, values: FieldValues<R>) =>
    controller.write(register.address, encodeFrame(unit.address, register, values));
  const tick = (periods: number) => {
    for (let period = 0; period < periods; period += 1) controller.tick();
  };
  const faults = () => {
    const frame = controller.read(REGISTERS.status.address, frameBytes(REGISTERS.status));
    return bitNames(FAULTS, decodeFrame(unit.address, REGISTERS.status, frame).faults);
  };
  const commit = () => {
    for (const { slot, defaults } of unit.loops) write(gainsRegister(slot), { ...defaults });
    write(REGISTERS.commit, { checksum: gainsChecksum(unit, defaultGains(unit)) });
  };

  it('takes torque off after 500 ms without a heartbeat, also after a reset, which resets the loops', () => {
    for (const resets of [0, 1]) {
      if (resets > 0) controller.reset();
      expect(loops.resets).to.equal(resets);
      commit();
      tick(499);
      expect([faults(), controller.truth().torque]).to.deep.equal([[], true]);
      tick(1);
      expect([faults(), controller.truth().torque]).to.deep.equal([['silent'], false]);
      write(REGISTERS.heartbeat, { count: 1, silence_ms: 0 });
      tick(60_000);
      expect(loops.last).to.deep.include({ torque: true });
    }
  });

  it('has a guard that ends the wave in the loop period in which the loop is too far from its setpoint', () => {
    controller.reset();
    commit();
    write(REGISTERS.heartbeat, { count: 1, silence_ms: 0 });
    write(REGISTERS.mode, { mode: 2 });
    write(REGISTERS.guarded_excitation, { slot: 2, amplitude: 0.25, period_s: 0.5, deviation: 0.5 });
    // The measured value grows by a thousandth in each period.
    loops.readings.angle_yaw!.setpoint = loops.commands.length / 1000 + 0.25;
    tick(750);
    expect([faults(), loops.drops]).to.deep.equal([[], 0]);
    tick(5);
    expect([faults(), loops.drops]).to.deep.equal([['ran_away'], 1]);
  });
});
