import { CHASSIS_AT_REST, ChassisMechanics, type ChassisState } from './chassis-mechanics.js';
import { GIMBAL_AT_REST, GimbalMechanics, type GimbalState } from './gimbal-mechanics.js';
import { ROBOT, type RobotBody } from './robot-body.js';

/** The moving parts of the whole robot, and the voltages that the controllers hold on the motors. */
export class RobotMechanics {
  readonly body: RobotBody;
  readonly #gimbal: GimbalMechanics;
  readonly #chassis: ChassisMechanics;
  gimbal: GimbalState = GIMBAL_AT_REST;
  chassis: ChassisState = CHASSIS_AT_REST;
  gimbalDrive = { yawV: 0, pitchV: 0, open: true };
  chassisDrive = { leftV: 0, rightV: 0, open: true };

  constructor(body: RobotBody = ROBOT) {
    this.body = body;
    this.#gimbal = new GimbalMechanics(body);
    this.#chassis = new ChassisMechanics(body);
  }

  step(dtS: number): void {
    const reactionNm = this.#gimbal.reactionNm(this.gimbal);
    this.chassis = this.#chassis.step(this.chassis, this.chassisDrive, reactionNm, dtS);
    this.gimbal = this.#gimbal.step(this.gimbal, this.gimbalDrive, this.chassis, dtS);
  }
}
