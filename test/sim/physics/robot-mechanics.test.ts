import { expect } from 'chai';
import { ROBOT } from '../../../sim/physics/robot-body.js';
import { RobotMechanics } from '../../../sim/physics/robot-mechanics.js';

const { chassis: CHASSIS, gimbal: GIMBAL, motors: MOTORS } = ROBOT;

function energyJ({ chassis, gimbal }: RobotMechanics): number {
  const sine = Math.sin(gimbal.pitch.angleRad);
  const turningRadS = gimbal.yaw.rateRadS + chassis.turnRadS;
  const payload = GIMBAL.yawInertiaKgM2 - GIMBAL.yawInertiaFallKgM2 * sine ** 2;
  const rotor = MOTORS.yaw.inertiaKgM2 - GIMBAL.yawInertiaKgM2;
  const doubled =
    CHASSIS.massKg * chassis.speedMS ** 2 +
    CHASSIS.inertiaKgM2 * chassis.turnRadS ** 2 +
    MOTORS.wheel.inertiaKgM2 * (chassis.left.rateRadS ** 2 + chassis.right.rateRadS ** 2) +
    payload * turningRadS ** 2 +
    rotor * gimbal.yaw.rateRadS ** 2 +
    MOTORS.pitch.inertiaKgM2 * gimbal.pitch.rateRadS ** 2;
  return doubled / 2 + GIMBAL.aheadNm * sine - GIMBAL.belowNm * Math.cos(gimbal.pitch.angleRad);
}

describe('the mechanics of the robot', () => {
  it('only lose energy without drive, and come to rest', () => {
    const robot = new RobotMechanics();
    robot.chassis = { ...robot.chassis, speedMS: 1, turnRadS: 3 };
    robot.gimbal = {
      ...robot.gimbal,
      yaw: { angleRad: 0, rateRadS: -8, currentA: 0 },
      pitch: { angleRad: 0.6, rateRadS: 0, currentA: 0 },
    };
    let before = energyJ(robot);
    for (let step = 0; step < 16_000; step += 1) {
      robot.step(0.0005);
      const now = energyJ(robot);
      expect(now).at.most(before + 1e-12);
      before = now;
    }
    expect(robot.chassis.speedMS).closeTo(0, 1e-9);
    expect(robot.chassis.turnRadS).closeTo(0, 1e-9);
    expect(robot.gimbal.yaw.rateRadS).closeTo(0, 1e-9);
    expect(robot.gimbal.pitch.rateRadS).closeTo(0, 1e-9);
  });

  for (const [what, fromRad] of [
    ['sinks from above', 0.6],
    ['rises from below', -0.55],
    ['stays where it hangs', -0.25],
  ] as const) {
    it(`let the nose go: it ${what}`, () => {
      const robot = new RobotMechanics();
      robot.gimbal = { ...robot.gimbal, pitch: { angleRad: fromRad, rateRadS: 0, currentA: 0 } };
      for (let step = 0; step < 8000; step += 1) robot.step(0.0005);
      // Friction catches it on either side of -0.25.
      expect(robot.gimbal.pitch.angleRad).within(-0.36, -0.13);
    });
  }
});
