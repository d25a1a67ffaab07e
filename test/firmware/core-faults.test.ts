import { expect } from 'chai';
import { GimbalSight } from '../../sim/physics/gimbal-sight.js';
import { seededNoise } from '../../sim/physics/noise.js';
import { RobotMechanics } from '../../sim/physics/robot-mechanics.js';
import { CoreController } from '../../sim/pico/core-controller.js';
import { portOf, RATE_HZ } from '../../sim/pico/core-robot.js';
import { defaultGains, unitNamed } from '../../src/core/units.js';
import { decodeFrame, encodeFrame, gainsChecksum } from '../../src/protocol/codec.js';
import {
  FAULTS,
  FLAGS,
  frameBytes,
  gainsRegister,
  REGISTERS,
  type Register,
} from '../../src/protocol/registers.js';
import { core as module } from './core.js';

/** The gimbal's core with torque, and the faults that its sensors show. */
function gimbal() {
  const unit = unitNamed('gimbal');
  const mechanics = new RobotMechanics();
  const sensed = new Set<(typeof FAULTS)[number]>();
  const port = {
    ...portOf(unit, mechanics, new GimbalSight(mechanics, RATE_HZ, seededNoise(1))),
    faults: () => [...sensed].reduce((bits, name) => bits | (1 << FAULTS.indexOf(name)), 0),
  };
  const controller = new CoreController(module, unit, { port }, () => null);
  const write = (register: Register, values: Readonly<Record<string, number>>) =>
    controller.write(register.address, encodeFrame(unit.address, register, values));
  write(REGISTERS.heartbeat, { count: 0, silence_ms: 0 });
  const gains = defaultGains(unit);
  for (const { slot, name } of unit.loops) write(gainsRegister(slot), { ...gains[name] });
  write(REGISTERS.commit, { checksum: gainsChecksum(unit, gains) });
  return {
    sensed,
    shownAfter(periods: number) {
      for (let period = 0; period < periods; period += 1) controller.tick();
      const { address } = REGISTERS.status;
      const frame = controller.read(address, frameBytes(REGISTERS.status));
      const { flags = 0, faults = 0 } = decodeFrame(unit.address, REGISTERS.status, frame);
      return {
        torque: Boolean(flags & (1 << FLAGS.indexOf('torque'))),
        faults: FAULTS.filter((_, bit) => faults & (1 << bit)),
      };
    },
  };
}

describe('a fault of the core', () => {
  for (const fault of ['over_current', 'over_temperature', 'encoder_failed', 'supply_low'] as const)
    it(`${fault} takes torque within a period, and for at least a second`, () => {
      const { sensed, shownAfter } = gimbal();
      expect(shownAfter(2)).to.deep.equal({ torque: true, faults: [] });
      sensed.add(fault);
      expect(shownAfter(1)).to.deep.equal({ torque: false, faults: [fault] });
      sensed.clear();
      expect(shownAfter(999)).to.deep.equal({ torque: false, faults: [fault] });
      expect(shownAfter(1)).to.deep.equal({ torque: true, faults: [] });
    });

  it('camera_lost leaves torque, and lasts as long as the camera is silent', () => {
    const { sensed, shownAfter } = gimbal();
    sensed.add('camera_lost');
    expect(shownAfter(2)).to.deep.equal({ torque: true, faults: ['camera_lost'] });
    sensed.clear();
    expect(shownAfter(1)).to.deep.equal({ torque: true, faults: [] });
  });
});
