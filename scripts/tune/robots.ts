import type { MotorParameters } from '../../sim/physics/dc-motor.js';
import { type MotorName, ROBOT, type RobotBody } from '../../sim/physics/robot-body.js';

function motors(
  change: (motor: MotorParameters, name: MotorName) => Partial<MotorParameters>,
): RobotBody['motors'] {
  const changed = (name: MotorName) => ({ ...ROBOT.motors[name], ...change(ROBOT.motors[name], name) });
  return { yaw: changed('yaw'), pitch: changed('pitch'), wheel: changed('wheel') };
}

/** A robot whose load is `factor` times as heavy. The motors weigh the same. */
function laden(factor: number): RobotBody {
  const { chassis, gimbal } = ROBOT;
  const yawInertiaKgM2 = factor * gimbal.yawInertiaKgM2;
  const pitchInertiaKgM2 = factor * gimbal.pitchInertiaKgM2;
  const more = {
    yaw: yawInertiaKgM2 - gimbal.yawInertiaKgM2,
    pitch: pitchInertiaKgM2 - gimbal.pitchInertiaKgM2,
    wheel: 0,
  };
  return {
    ...ROBOT,
    chassis: {
      ...chassis,
      massKg: factor * chassis.massKg,
      inertiaKgM2: factor * chassis.inertiaKgM2,
      gripN: factor * chassis.gripN,
    },
    gimbal: {
      ...gimbal,
      yawInertiaKgM2,
      pitchInertiaKgM2,
      yawInertiaFallKgM2: factor * gimbal.yawInertiaFallKgM2,
      aheadNm: factor * gimbal.aheadNm,
      belowNm: factor * gimbal.belowNm,
    },
    motors: motors(({ inertiaKgM2 }, name) => ({ inertiaKgM2: inertiaKgM2 + more[name] })),
  };
}

const { yaw, pitch, wheel } = ROBOT.encoderCountsPerTurn;

/** Robots that differ from the one for which the default gains were found. */
export const ROBOTS: Readonly<Record<string, RobotBody>> = {
  standard: ROBOT,
  heavy: laden(1.6),
  light: laden(0.6),
  weak: { ...ROBOT, motors: motors(({ resistanceOhm }) => ({ resistanceOhm: 1.6 * resistanceOhm })) },
  sticky: { ...ROBOT, motors: motors(({ coulombNm }) => ({ coulombNm: 3 * coulombNm })) },
  'late camera': { ...ROBOT, cameraLatencyS: 0.08 },
  'coarse encoders': {
    ...ROBOT,
    encoderCountsPerTurn: { yaw: yaw / 16, pitch: pitch / 16, wheel: wheel / 16 },
  },
};
