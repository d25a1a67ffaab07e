import { readFileSync } from 'node:fs';
import type { Unit } from '../../src/core/units.js';
import { GimbalSight } from '../physics/gimbal-sight.js';
import { seededNoise } from '../physics/noise.js';
import type { RobotMechanics } from '../physics/robot-mechanics.js';
import { createPhysics, type PhysicsOptions } from '../robot-physics.js';
import { Core, type CorePort } from './core.js';

const HEADING_RAD = 1e-4;

/** Throws if the core is not compiled. */
export function coreModule(file: string): WebAssembly.Module {
  return new WebAssembly.Module(readFileSync(file));
}

/** A simulated robot with the C core as both controllers. The core runs its own loops. */
export function createCoreRobot(module: WebAssembly.Module, options: PhysicsOptions) {
  const physics = createPhysics(options);
  const sight = new GimbalSight(physics.mechanics, physics.loopRateHz, seededNoise(options.seed));
  const port = (unit: Unit) => portOf(unit, physics.mechanics, sight);
  return {
    physics,
    port,
    controller: (unit: Unit, ownPort = port(unit)) => new Core(module, unit, ownPort),
  };
}

export type CoreRobot = ReturnType<typeof createCoreRobot>;

/** The sensors and motors of one unit. */
function portOf({ hasCamera }: Unit, mechanics: RobotMechanics, sight: GimbalSight): CorePort {
  const { yaw, pitch, wheel } = mechanics.body.encoderCountsPerTurn;
  const countsPerTurn = hasCamera ? ([yaw, pitch] as const) : ([wheel, wheel] as const);
  let shown = '';
  return {
    encoder: motor => {
      const { gimbal, chassis } = mechanics;
      const [a, b] = hasCamera ? [gimbal.yaw, gimbal.pitch] : [chassis.left, chassis.right];
      return Math.floor((motor === 0 ? a : b).angleRad / ((2 * Math.PI) / countsPerTurn[motor]));
    },
    heading: () => Math.round(mechanics.chassis.headingRad / HEADING_RAD),
    picture: () => sight.camera.picture,
    drive: (motor, volts) => {
      if (hasCamera) mechanics.gimbalDrive[motor === 0 ? 'yawV' : 'pitchV'] = volts;
      else mechanics.chassisDrive[motor === 0 ? 'leftV' : 'rightV'] = volts;
    },
    torque: on => {
      const drive = hasCamera ? mechanics.gimbalDrive : mechanics.chassisDrive;
      drive.open = !on;
    },
    faults: () => 0,
    show: (mode, torque) => {
      if (!hasCamera) return;
      sight.tick();
      const now = `${mode} ${torque}`;
      if (now !== shown) sight.enter(mode);
      shown = now;
    },
    autoMoves: () => true,
    axes: () => (hasCamera ? sight.axes : mechanics.chassis),
  };
}
