import type { Physics } from './firmware/unit-loops.js';
import { ChassisLoops } from './loops/chassis-loops.js';
import { GimbalLoops } from './loops/gimbal-loops.js';
import { seededNoise } from './physics/noise.js';
import type { RobotBody } from './physics/robot-body.js';
import { RobotMechanics } from './physics/robot-mechanics.js';

export interface PhysicsOptions {
  /** Seeds the camera's noise. */
  readonly seed: number;
  /** How often the control loops run. */
  readonly loopRateHz?: number;
  readonly body?: RobotBody | undefined;
  /** Integration steps to a loop period. */
  readonly substeps?: number;
}

/** The whole robot. Same options and same commands give the same motion to the last bit. */
export function createPhysics({ seed, body, loopRateHz = 1000, substeps = 2 }: PhysicsOptions): Physics {
  const mechanics = new RobotMechanics(body);
  const dtS = 1 / loopRateHz / substeps;
  return {
    loops: {
      gimbal: new GimbalLoops(mechanics, loopRateHz, seededNoise(seed)),
      chassis: new ChassisLoops(mechanics, loopRateHz),
    },
    loopRateHz,
    step: () => {
      for (let part = 0; part < substeps; part += 1) mechanics.step(dtS);
    },
  };
}
