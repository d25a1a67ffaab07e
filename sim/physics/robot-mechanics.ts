import { CHASSIS_AT_REST, type ChassisState, chassisStep } from './chassis-mechanics.js';
import { GIMBAL_AT_REST, type GimbalState, gimbalReactionNm, gimbalStep } from './gimbal-mechanics.js';

/** The moving parts of the whole robot, and the voltages that the controllers hold on the motors. */
export class RobotMechanics {
  gimbal: GimbalState = GIMBAL_AT_REST;
  chassis: ChassisState = CHASSIS_AT_REST;
  gimbalDrive = { yawV: 0, pitchV: 0, open: true };
  chassisDrive = { leftV: 0, rightV: 0, open: true };

  step(dtS: number): void {
    const { leftV, rightV, open } = this.chassisDrive;
    const reactionNm = gimbalReactionNm(this.gimbal);
    this.chassis = chassisStep(this.chassis, { leftV, rightV, open, reactionNm }, dtS);
    const { turnRadS, turnAccelerationRadS2 } = this.chassis;
    const drive = this.gimbalDrive;
    this.gimbal = gimbalStep(
      this.gimbal,
      {
        yawV: drive.yawV,
        pitchV: drive.pitchV,
        open: drive.open,
        chassisRateRadS: turnRadS,
        chassisAccelerationRadS2: turnAccelerationRadS2,
      },
      dtS,
    );
  }
}
