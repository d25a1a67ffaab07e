import { clamped } from './angles.js';
import { AT_REST, DcMotor, type MotorState } from './dc-motor.js';
import type { RobotBody } from './robot-body.js';

/** A differential drive on a plane. It never slides sideways. A side slips if it needs more force than its grip. */
export interface ChassisState {
  readonly xM: number;
  readonly yM: number;
  /** The heading. It is not wrapped: a turn adds 2 pi. */
  readonly headingRad: number;
  readonly speedMS: number;
  readonly turnRadS: number;
  readonly turnAccelerationRadS2: number;
  readonly left: MotorState;
  readonly right: MotorState;
  readonly slipping: boolean;
}

interface ChassisDrive {
  readonly leftV: number;
  readonly rightV: number;
  /** The motor bridges are off: no current flows, and the wheels roll freely. */
  readonly open: boolean;
}

export const CHASSIS_AT_REST: ChassisState = {
  xM: 0,
  yM: 0,
  headingRad: 0,
  speedMS: 0,
  turnRadS: 0,
  turnAccelerationRadS2: 0,
  left: AT_REST,
  right: AT_REST,
  slipping: false,
};

export class ChassisMechanics {
  readonly #chassis: RobotBody['chassis'];
  readonly #motor: DcMotor;

  constructor({ chassis, motors }: RobotBody) {
    this.#chassis = chassis;
    this.#motor = new DcMotor(motors.wheel);
  }

  /**
   * Computes one step without side effects. First steps the wheels as if they hung free. Then finds the forces
   * between wheels and floor that leave no slip at the end of the step, limited by grip.
   */
  step(state: ChassisState, drive: ChassisDrive, reactionNm: number, dtS: number): ChassisState {
    const { wheelRadiusM: r, trackM, massKg, inertiaKgM2, gripN } = this.#chassis;
    const motor = this.#motor;
    const { open } = drive;
    const left = motor.step(state.left, { voltageV: drive.leftV, loadNm: 0, open }, dtS);
    const right = motor.step(state.right, { voltageV: drive.rightV, loadNm: 0, open }, dtS);

    const turned = state.turnRadS + (dtS / inertiaKgM2) * reactionNm;
    const leftSlip = r * left.rateRadS - (state.speedMS - (turned * trackM) / 2);
    const rightSlip = r * right.rateRadS - (state.speedMS + (turned * trackM) / 2);
    const forward = dtS / massKg;
    const turning = (dtS * trackM ** 2) / (4 * inertiaKgM2);
    // The slip per newton: a force on one side reduces the slip there by `own`, and on the other side by `other`.
    const own = r * r * motor.rateGain(open, dtS) + forward + turning;
    const other = forward - turning;
    const determinant = own * own - other * other;
    let leftN = (own * leftSlip - other * rightSlip) / determinant;
    let rightN = (own * rightSlip - other * leftSlip) / determinant;
    const slipping = Math.abs(leftN) > gripN || Math.abs(rightN) > gripN;
    if (slipping) {
      // The side that needs more force slips, so its force is the grip. Finds the force that then holds the other side. If
      // that force exceeds the grip, the other side slips too.
      if (Math.abs(leftN) >= Math.abs(rightN)) {
        leftN = clamped(leftN, -gripN, gripN);
        rightN = clamped((rightSlip - other * leftN) / own, -gripN, gripN);
      } else {
        rightN = clamped(rightN, -gripN, gripN);
        leftN = clamped((leftSlip - other * rightN) / own, -gripN, gripN);
      }
    }

    const speedMS = state.speedMS + forward * (leftN + rightN);
    const turnRadS = turned + ((dtS * trackM) / (2 * inertiaKgM2)) * (rightN - leftN);
    const wayM = ((state.speedMS + speedMS) / 2) * dtS;
    const turnedRad = ((state.turnRadS + turnRadS) / 2) * dtS;
    const alongRad = state.headingRad + turnedRad / 2;
    return {
      xM: state.xM + wayM * Math.cos(alongRad),
      yM: state.yM + wayM * Math.sin(alongRad),
      headingRad: state.headingRad + turnedRad,
      speedMS,
      turnRadS,
      turnAccelerationRadS2: (turnRadS - state.turnRadS) / dtS,
      left: motor.pushed(left, -r * leftN, open, dtS),
      right: motor.pushed(right, -r * rightN, open, dtS),
      slipping,
    };
  }
}
