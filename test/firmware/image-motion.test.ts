import { expect } from 'chai';
import type { MotorState } from '../../sim/physics/dc-motor.js';
import type { RobotMechanics } from '../../sim/physics/robot-mechanics.js';
import { createPico } from '../../sim/pico/pico-robot.js';
import { unitNamed } from '../../src/core/units.js';
import { driven } from '../support/motions.js';
import { core } from './core.js';

type Mechanics = Pick<RobotMechanics, 'gimbal' | 'chassis'>;

const notAhead = (motor: MotorState) => ({ ...motor, rateRadS: Math.min(0, motor.rateRadS) });
const notBeyond = (motor: MotorState, { angleRad }: MotorState) =>
  motor.angleRad < angleRad ? motor : { ...notAhead(motor), angleRad };

/** Rates, the loops that show the places, and what a wall does that stands at `place`: the unit can only go back. */
const UNITS = [
  {
    name: 'gimbal',
    rates: { yaw: 1, pitch: 0.5 },
    loops: ['angle_yaw', 'angle_pitch'],
    wall: ({ gimbal }: Mechanics, place: Mechanics): Partial<Mechanics> => {
      const { yaw, pitch } = place.gimbal;
      return {
        gimbal: { ...gimbal, yaw: notBeyond(gimbal.yaw, yaw), pitch: notBeyond(gimbal.pitch, pitch) },
      };
    },
  },
  {
    name: 'chassis',
    rates: { speed: 0.5 },
    loops: ['position'],
    wall: ({ chassis }: Mechanics, place: Mechanics): Partial<Mechanics> => {
      if (chassis.xM < place.chassis.xM || chassis.speedMS < 0) return {};
      const [left, right] = [notAhead(chassis.left), notAhead(chassis.right)];
      return { chassis: { ...chassis, speedMS: 0, left, right } };
    },
  },
] as const;

describe('the firmware image for the Pico', function () {
  this.timeout(600_000);
  for (const { name, rates, loops, wall } of UNITS)
    it(`moves the ${name} only while a command lasts, and by less than 0.3 ${name === 'gimbal' ? 'rad' : 'm'} when a wall is removed after 5 s of commands against the wall`, () => {
      const { pico, robot } = createPico(unitNamed(name), core, { seed: 1 });
      const { mechanics } = robot.physics;
      let place: Mechanics | undefined;
      const period = () => {
        pico.tick();
        if (place !== undefined) Object.assign(mechanics, wall(mechanics, place));
      };
      const moved = driven(unitNamed(name), { controller: pico, period });
      const places = () => loops.map(loop => moved.place(loop));
      const start = places();
      moved.move(rates, 200);
      // Transactions take time on the wire, so the image may be some periods ahead.
      moved.run(5);
      expect(moved.motion()).to.include(rates);
      expect(moved.motion().hold_ms).to.be.within(190, 199);
      moved.run(600);
      expect(moved.motion()).to.include({ hold_ms: 0 });
      const { gimbal, chassis } = mechanics;
      place = { gimbal, chassis };
      const held = places();
      for (const [at, rate] of Object.values(rates).entries())
        expect((held[at] ?? 0) - (start[at] ?? 0)).to.be.within(0.1 * rate, 0.4 * rate);
      for (let passed = 0; passed < 5000; passed += 100) {
        moved.move(rates, 200);
        moved.run(100);
        for (const loop of loops)
          expect(Math.abs(moved.setpoint(loop) - moved.place(loop))).to.be.at.most(0.301);
      }
      expect(moved.motion()).to.include(rates);
      moved.run(110);
      place = undefined;
      for (let passed = 0; passed < 500; passed += 10) {
        moved.run(10);
        for (const [at, now] of places().entries()) expect(Math.abs(now - (held[at] ?? 0))).to.be.below(0.3);
      }
    });
});
