import type { MotorParameters } from '../../sim/physics/dc-motor.js';

/** Two motors of a published course on control (CTMS), without friction and with no limit to their voltage. */
export const POSITION_MOTOR: MotorParameters = {
  inertiaKgM2: 3.2284e-6,
  viscousNmS: 3.5077e-6,
  coulombNm: 0,
  torqueNmA: 0.0274,
  resistanceOhm: 4,
  inductanceH: 2.75e-6,
  supplyV: Number.POSITIVE_INFINITY,
};

export const SPEED_MOTOR: MotorParameters = {
  inertiaKgM2: 0.01,
  viscousNmS: 0.1,
  coulombNm: 0,
  torqueNmA: 0.01,
  resistanceOhm: 1,
  inductanceH: 0.5,
  supplyV: Number.POSITIVE_INFINITY,
};
