import { readFileSync } from 'node:fs';
import { perUnit, type Unit } from '../../src/core/units.js';
import type { Controller } from '../firmware/simulated-controller.js';
import { type Physics, standstill } from '../firmware/unit-loops.js';
import { GimbalSight } from '../physics/gimbal-sight.js';
import { seededNoise } from '../physics/noise.js';
import { RobotMechanics } from '../physics/robot-mechanics.js';
import type { PhysicsOptions } from '../robot-physics.js';
import type { CoreMotor, CorePort } from './core.js';
import { CoreController } from './core-controller.js';

export const RATE_HZ = 1000;
const HEADING_RAD = 1e-4;

/** Throws if the core is not compiled. */
export function coreModule(file: string): WebAssembly.Module {
  return new WebAssembly.Module(readFileSync(file));
}

/** A simulated robot with the C core as both controllers. The core runs its own loops. */
export function createCoreRobot(
  module: WebAssembly.Module,
  { seed, body, substeps = 2 }: PhysicsOptions,
): { physics: Physics; controller: (unit: Unit) => Controller } {
  const mechanics = new RobotMechanics(body);
  const sight = new GimbalSight(mechanics, RATE_HZ, seededNoise(seed));
  return {
    physics: {
      loops: perUnit(standstill),
      loopRateHz: RATE_HZ,
      step: () => {
        for (let part = 0; part < substeps; part += 1) mechanics.step(1 / RATE_HZ / substeps);
      },
    },
    controller: unit => {
      const axes = () => (unit.hasCamera ? sight.axes : mechanics.chassis);
      return new CoreController(module, unit, { port: portOf(unit, mechanics, sight) }, axes);
    },
  };
}

/** The sensors and motors of one unit. */
export function portOf(unit: Unit, mechanics: RobotMechanics, sight: GimbalSight): CorePort {
  let shown = '';
  return {
    encoder: motor => Math.floor(angleOf(motor, mechanics) / ((2 * Math.PI) / countsOf(motor, mechanics))),
    heading: () => Math.round(mechanics.chassis.headingRad / HEADING_RAD),
    picture: () => sight.camera.picture,
    drive: (motor, volts) => {
      const { gimbalDrive, chassisDrive } = mechanics;
      if (motor === 'yaw') gimbalDrive.yawV = volts;
      else if (motor === 'pitch') gimbalDrive.pitchV = volts;
      else if (motor === 'left') chassisDrive.leftV = volts;
      else chassisDrive.rightV = volts;
    },
    torque: on => {
      const drive = unit.hasCamera ? mechanics.gimbalDrive : mechanics.chassisDrive;
      drive.open = !on;
    },
    faults: () => 0,
    show: (mode, torque) => {
      if (!unit.hasCamera) return;
      sight.tick();
      const now = `${mode} ${torque}`;
      if (now !== shown) sight.enter(mode);
      shown = now;
    },
  };
}

function angleOf(motor: CoreMotor, { gimbal, chassis }: RobotMechanics): number {
  return motor === 'yaw' || motor === 'pitch' ? gimbal[motor].angleRad : chassis[motor].angleRad;
}

function countsOf(motor: CoreMotor, { body }: RobotMechanics): number {
  const { yaw, pitch, wheel } = body.encoderCountsPerTurn;
  return motor === 'yaw' ? yaw : motor === 'pitch' ? pitch : wheel;
}
