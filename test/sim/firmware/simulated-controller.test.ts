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

  it('cuts the torque 500 ms after a start or reset without a heartbeat, and a heartbeat with `silence_ms` 0 restores the torque for good', () => {
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

  it('ends an excitation when heartbeats stop, and ignores a new excitation until heartbeats return', () => {
    const amplitude = () => {
      const frame = controller.read(REGISTERS.excitation.address, frameBytes(REGISTERS.excitation));
      return decodeFrame(unit.address, REGISTERS.excitation, frame).amplitude;
    };
    const excitation = { slot: 2, amplitude: 0.25, period_s: 0.5 };
    controller.reset();
    commit();
    write(REGISTERS.heartbeat, { count: 1, silence_ms: 100 });
    write(REGISTERS.mode, { mode: 2 });
    write(REGISTERS.excitation, excitation);
    tick(50);
    expect(amplitude()).to.equal(0.25);
    tick(100);
    expect([faults(), amplitude()]).to.deep.equal([['silent'], 0]);
    write(REGISTERS.excitation, excitation);
    expect(amplitude()).to.equal(0);
    tick(1);
    write(REGISTERS.heartbeat, { count: 2, silence_ms: 100 });
    tick(50);
    expect([controller.truth().torque, amplitude()]).to.deep.equal([true, 0]);
    expect(loops.last).to.deep.include({ mode: 'debug', torque: true });
    expect(loops.last?.excitation.amplitude).to.equal(0);
  });

  it('ends a guarded excitation as soon as the loop is further from its setpoint than the guard allows', () => {
    controller.reset();
    commit();
    write(REGISTERS.heartbeat, { count: 1, silence_ms: 0 });
    write(REGISTERS.mode, { mode: 2 });
    write(REGISTERS.guarded_excitation, { slot: 2, amplitude: 0.25, period_s: 0.5, deviation: 0.5 });
    loops.drops = 0;
    // The measured value grows by a thousandth in each period.
    loops.readings.angle_yaw!.setpoint = loops.commands.length / 1000 + 0.25;
    tick(750);
    expect([faults(), loops.drops]).to.deep.equal([[], 0]);
    tick(5);
    expect([faults(), loops.drops]).to.deep.equal([['ran_away'], 1]);
  });
});
