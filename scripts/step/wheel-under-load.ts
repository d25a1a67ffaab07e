import type { MotorParameters } from '../../sim/physics/dc-motor.js';
import { ROBOT } from '../../sim/physics/robot-body.js';

/** The wheel's motor with its load: half of the robot's mass, if no wheel slips. */
export function wheelUnderLoad(): MotorParameters {
  const { chassis, motors } = ROBOT;
  const carried = (chassis.massKg / 2) * chassis.wheelRadiusM ** 2;
  return { ...motors.wheel, inertiaKgM2: motors.wheel.inertiaKgM2 + carried };
}
