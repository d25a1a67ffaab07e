import { geared, type MotorParameters } from './dc-motor.js';

/** The properties of the simulated robot, in SI units. Its loops are tuned for them. */

const GRAVITY = 9.81;

const SUPPLY_V = 24;

const CHASSIS = {
  massKg: 12,
  /** About the vertical axis, without the parts that the gimbal turns. */
  inertiaKgM2: 0.35,
  wheelRadiusM: 0.05,
  /** The distance between the left and the right wheels. */
  trackM: 0.36,
  /** Largest force between one driven side and the floor: friction coefficient 0.8, half of the weight. */
  gripN: 0.8 * 0.5 * 12 * GRAVITY,
};

const GIMBAL = {
  /** The inertia of everything that turns with the yaw axis, at level pitch. */
  yawInertiaKgM2: 0.02,
  /** How much the yaw axis' inertia falls as the pitch axis goes from level to upright. */
  yawInertiaFallKgM2: 0.003,
  pitchInertiaKgM2: 0.008,
  /**
   * Weight of the payload times its lever in front of and below the pitch axis. Without torque, the payload hangs at
   * -0.25 rad.
   */
  aheadNm: 0.8 * GRAVITY * 0.015,
  belowNm: 0.8 * GRAVITY * 0.06,
  /** Mechanical end stops. */
  yaw: { minRad: -2.9, maxRad: 2.9 },
  pitch: { minRad: -0.55, maxRad: 0.75 },
};

const GEARMOTOR: MotorParameters = {
  inertiaKgM2: 1e-5,
  viscousNmS: 1e-5,
  coulombNm: 2e-3,
  torqueNmA: 0.03,
  resistanceOhm: 2,
  inductanceH: 5e-4,
  supplyV: SUPPLY_V,
};

const ENCODER_COUNTS = 4096;

const GEARS = { yaw: 15, pitch: 15, wheel: 14 } as const;

export type MotorName = keyof typeof GEARS;

/** The motors as equivalent motors at their output shafts. The inertia includes that of the axis or wheel. */
const MOTORS: Readonly<Record<MotorName, MotorParameters>> = {
  yaw: geared(GEARMOTOR, GEARS.yaw, {
    inertiaKgM2: GIMBAL.yawInertiaKgM2,
    viscousNmS: 1e-3,
    coulombNm: 0.03,
  }),
  pitch: geared(GEARMOTOR, GEARS.pitch, {
    inertiaKgM2: GIMBAL.pitchInertiaKgM2,
    viscousNmS: 1e-3,
    coulombNm: 0.02,
  }),
  wheel: geared({ ...GEARMOTOR, inertiaKgM2: 2e-5 }, GEARS.wheel, {
    inertiaKgM2: 1e-3,
    viscousNmS: 2e-3,
    coulombNm: 0.1,
  }),
};

/** The encoders' counts per turn of the output. The encoders are on the motor shafts. */
const ENCODER_COUNTS_PER_TURN: Readonly<Record<MotorName, number>> = {
  yaw: ENCODER_COUNTS * GEARS.yaw,
  pitch: ENCODER_COUNTS * GEARS.pitch,
  wheel: ENCODER_COUNTS * GEARS.wheel,
};

/** The properties in which another robot may differ, in SI units. Motors are given at their output shafts. */
export interface RobotBody {
  readonly chassis: Readonly<typeof CHASSIS>;
  readonly gimbal: Readonly<typeof GIMBAL>;
  readonly motors: Readonly<Record<MotorName, MotorParameters>>;
  readonly encoderCountsPerTurn: Readonly<Record<MotorName, number>>;
  /** The time from a picture until the loops receive it. */
  readonly cameraLatencyS: number;
}

export const ROBOT: RobotBody = {
  chassis: CHASSIS,
  gimbal: GIMBAL,
  motors: MOTORS,
  encoderCountsPerTurn: ENCODER_COUNTS_PER_TURN,
  cameraLatencyS: 0.04,
};
