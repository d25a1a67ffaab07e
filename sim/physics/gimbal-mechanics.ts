import type { ChassisState } from './chassis-mechanics.js';
import { AT_REST, DcMotor, type MotorState } from './dc-motor.js';
import type { RobotBody } from './robot-body.js';

export interface GimbalState {
  /** Relative to the chassis. Positive is to the left. */
  readonly yaw: MotorState;
  /** Positive is upwards. */
  readonly pitch: MotorState;
  /** The acceleration of the yaw axis relative to the floor in the last step. */
  readonly yawAccelerationRadS2: number;
}

interface GimbalDrive {
  readonly yawV: number;
  readonly pitchV: number;
  /** The motor bridges are off: no current flows. */
  readonly open: boolean;
}

export const GIMBAL_AT_REST: GimbalState = { yaw: AT_REST, pitch: AT_REST, yawAccelerationRadS2: 0 };

/** The mechanical end stops absorb the motion, without rebound. */
function stopped(state: MotorState, { minRad, maxRad }: RobotBody['gimbal']['yaw']): MotorState {
  const { angleRad, rateRadS } = state;
  if (angleRad > maxRad) return { ...state, angleRad: maxRad, rateRadS: Math.min(0, rateRadS) };
  if (angleRad < minRad) return { ...state, angleRad: minRad, rateRadS: Math.max(0, rateRadS) };
  return state;
}

export class GimbalMechanics {
  readonly #gimbal: RobotBody['gimbal'];
  readonly #yawMotor: DcMotor;
  readonly #pitchMotor: DcMotor;

  constructor({ gimbal, motors }: RobotBody) {
    this.#gimbal = gimbal;
    this.#yawMotor = new DcMotor(motors.yaw);
    this.#pitchMotor = new DcMotor(motors.pitch);
  }

  /**
   * Computes one step without side effects. The yaw axis carries the payload, so its inertia depends on the pitch
   * angle. The difference from the nominal inertia and the turning chassis act as loads. The spinning payload pulls
   * the pitch axis to level.
   */
  step(state: GimbalState, drive: GimbalDrive, chassis: ChassisState, dtS: number): GimbalState {
    const gimbal = this.#gimbal;
    const { yaw, pitch } = state;
    const { open } = drive;
    const turningRadS = yaw.rateRadS + chassis.turnRadS;
    const sine = Math.sin(pitch.angleRad);
    const cosine = Math.cos(pitch.angleRad);
    const fall = gimbal.yawInertiaFallKgM2;
    const yawNm =
      fall * sine * (sine * state.yawAccelerationRadS2 + 2 * cosine * pitch.rateRadS * turningRadS) -
      gimbal.yawInertiaKgM2 * chassis.turnAccelerationRadS2;
    const pitchNm = -gimbal.aheadNm * cosine - sine * (gimbal.belowNm + fall * cosine * turningRadS ** 2);
    const nextYaw = stopped(
      this.#yawMotor.step(yaw, { voltageV: drive.yawV, loadNm: yawNm, open }, dtS),
      gimbal.yaw,
    );
    const nextPitch = stopped(
      this.#pitchMotor.step(pitch, { voltageV: drive.pitchV, loadNm: pitchNm, open }, dtS),
      gimbal.pitch,
    );
    return {
      yaw: nextYaw,
      pitch: nextPitch,
      yawAccelerationRadS2: (nextYaw.rateRadS - yaw.rateRadS) / dtS + chassis.turnAccelerationRadS2,
    };
  }

  /** The torque of the payload on the chassis below it. */
  reactionNm(state: GimbalState): number {
    return -this.#gimbal.yawInertiaKgM2 * state.yawAccelerationRadS2;
  }
}
