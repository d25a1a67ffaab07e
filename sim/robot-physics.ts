import { ChassisLoops } from './loops/chassis-loops.js';
import { GimbalLoops } from './loops/gimbal-loops.js';
import { seededNoise } from './physics/noise.js';
import type { RobotBody } from './physics/robot-body.js';
import { RobotMechanics } from './physics/robot-mechanics.js';

export interface PhysicsOptions {
  /** Seeds the camera's noise. */
  readonly seed: number;
  readonly body?: RobotBody | undefined;
  /** Integration steps per loop period. */
  readonly substeps?: number;
}

/** The frequency of the control loops. */
const LOOP_RATE_HZ = 1000;

/** The whole robot. The same options and commands give exactly the same motion. */
export function createPhysics({ seed, body, substeps = 2 }: PhysicsOptions) {
  const mechanics = new RobotMechanics(body);
  const dtS = 1 / LOOP_RATE_HZ / substeps;
  return {
    mechanics,
    loops: {
      gimbal: new GimbalLoops(mechanics, LOOP_RATE_HZ, seededNoise(seed)),
      chassis: new ChassisLoops(mechanics, LOOP_RATE_HZ),
    },
    loopRateHz: LOOP_RATE_HZ,
    step: () => {
      for (let part = 0; part < substeps; part += 1) mechanics.step(dtS);
    },
  };
}
