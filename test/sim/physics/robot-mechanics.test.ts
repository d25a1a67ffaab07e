import { expect } from 'chai';
import { RobotMechanics } from '../../../sim/physics/robot-mechanics.js';

describe('the mechanics of the robot', () => {
  for (const [what, fromRad] of [
    ['sinks from above', 0.6],
    ['rises from below', -0.55],
    ['stays where it hangs', -0.25],
  ] as const) {
    it(`let the nose go: it ${what}, and all comes to rest`, () => {
      const robot = new RobotMechanics();
      robot.chassis = { ...robot.chassis, speedMS: 1, turnRadS: 3 };
      robot.gimbal = { ...robot.gimbal, pitch: { angleRad: fromRad, rateRadS: 0, currentA: 0 } };
      for (let step = 0; step < 16_000; step += 1) robot.step(0.0005);
      // Friction catches it on either side of -0.25.
      expect(robot.gimbal.pitch.angleRad).within(-0.36, -0.13);
      const { chassis, gimbal } = robot;
      for (const rate of [chassis.speedMS, chassis.turnRadS, gimbal.yaw.rateRadS, gimbal.pitch.rateRadS])
        expect(rate).closeTo(0, 1e-9);
    });
  }
});
