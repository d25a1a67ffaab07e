import { rmSync } from 'node:fs';
import { expect } from 'chai';
import type { MotorState } from '../../sim/physics/dc-motor.js';
import { ROBOT, type RobotBody } from '../../sim/physics/robot-body.js';
import type { RobotMechanics } from '../../sim/physics/robot-mechanics.js';
import type { PicoBoard } from '../../sim/pico/pico-board.js';
import { createPico } from '../../sim/pico/pico-robot.js';
import { defaultGains, UNIT_LIST, type Unit, type UnitName } from '../../src/core/units.js';
import { bitNames } from '../../src/protocol/codec.js';
import { FAULTS, REGISTERS } from '../../src/protocol/registers.js';
import { core, shown } from './core.js';
import { type Frame, frameOf, gainsFrames } from './frames.js';
import { imagesFor, type OtherValues } from './robot-file.js';

/** Friction as a part of the output limit: the check begins at 0.25. */
const STICKING = 0.22;
const ROBOTS: readonly { readonly volts: number; readonly values: OtherValues }[] = [
  { volts: 24, values: {} },
  {
    volts: 12,
    values: { SUPPLY_V: '12', SUPPLY_MIN_MV: '9000', MAX_RAD_S: '30', DRIVING_V: '8', TURNING_V: '4' },
  },
];

/** Clamps all parts after a tenth of a second, for 0.3 s. */
function clamped(): NonNullable<Situation['each']> {
  let held: Pick<RobotMechanics, 'gimbal' | 'chassis'> | undefined;
  return (mechanics, ms) => {
    if (ms < 100 || ms >= 400) return;
    const { gimbal, chassis } = mechanics;
    const stop = (motor: MotorState) => ({ ...motor, rateRadS: 0 });
    held ??= {
      gimbal: { ...gimbal, yaw: stop(gimbal.yaw), pitch: stop(gimbal.pitch) },
      chassis: { ...chassis, speedMS: 0, turnRadS: 0, left: stop(chassis.left), right: stop(chassis.right) },
    };
    Object.assign(mechanics, held);
  };
}

interface Situation {
  readonly body?: RobotBody;
  readonly amplitude?: number;
  readonly periodS?: number;
  /** Called before the unit gets torque. */
  readonly first?: (mechanics: RobotMechanics, board: PicoBoard, part: number) => void;
  /** Called after each loop period. */
  readonly each?: (mechanics: RobotMechanics, ms: number) => void;
}

function turnYaw(
  mechanics: RobotMechanics,
  change: (angleRad: number, rateRadS: number) => [number, number],
) {
  const { yaw } = mechanics.gimbal;
  const [angleRad, rateRadS] = change(yaw.angleRad, yaw.rateRadS);
  mechanics.gimbal = { ...mechanics.gimbal, yaw: { ...yaw, angleRad, rateRadS } };
}

/** Puts the yaw axis at another angle, and lets its encoder count from there. */
function begin(mechanics: RobotMechanics, board: PicoBoard, angleRad: number, rateRadS: number): void {
  turnYaw(mechanics, () => [angleRad, rateRadS]);
  board.encoderOffset = [-Math.floor((angleRad / (2 * Math.PI)) * ROBOT.encoderCountsPerTurn.yaw), 0];
}

function sticky(volts: number): RobotBody {
  const { yaw, wheel } = ROBOT.motors;
  const friction = (motor: typeof yaw, limitV: number) => ({
    ...motor,
    coulombNm: (STICKING * limitV * motor.torqueNmA) / motor.resistanceOhm,
  });
  return {
    ...ROBOT,
    motors: { ...ROBOT.motors, yaw: friction(yaw, volts), wheel: friction(wheel, volts / 3) },
  };
}

const situations = (volts: number): Readonly<Record<UnitName, Readonly<Record<string, Situation>>>> => ({
  gimbal: {
    'that reverses from full speed': {
      first: (mechanics, board, part) => begin(mechanics, board, -2.8, 45 * part),
    },
    'that presses against an end stop': {
      amplitude: 0.5,
      first: (mechanics, board) => begin(mechanics, board, 2.6, 0),
    },
    'that a hand holds still': {
      // 50 Nm/rad and 1 Nm s/rad, and a tremor of 10 Hz.
      each: (mechanics, ms) =>
        turnYaw(mechanics, (angle, rate) => {
          const push = (50 * (0.001 * Math.sin(ms / 16) - angle)) / 0.022;
          return [angle, (rate + push * 0.001) / (1 + 0.001 / 0.022)];
        }),
    },
    'with high friction': { body: sticky(volts), amplitude: 0.05 },
    'that something clamps for 0.3 s': { each: clamped() },
  },
  chassis: {
    'that reverses from full speed': {
      first: (mechanics, _board, part) => {
        const { chassis } = mechanics;
        const wheel = { ...chassis.left, rateRadS: -50 * part };
        mechanics.chassis = { ...chassis, speedMS: -2.5 * part, left: wheel, right: wheel };
      },
    },
    'that speeds up and brakes': { periodS: 0.8 },
    'that pushes against a wall': {
      each: mechanics => {
        const { chassis } = mechanics;
        const held = (wheel: typeof chassis.left) => ({ ...wheel, rateRadS: Math.min(0, wheel.rateRadS) });
        if (chassis.xM < 0.1 || chassis.speedMS < 0) return;
        const [left, right] = [held(chassis.left), held(chassis.right)];
        mechanics.chassis = { ...chassis, speedMS: 0, turnRadS: 0, left, right };
      },
    },
    'with high friction': { body: sticky(volts) },
    'that something clamps for 0.3 s': { each: clamped() },
  },
});

/** Drives one loop of a unit by test steps. */
function driven(unit: Unit, images: string, motor: 0 | 1, situation: Situation = {}) {
  const { body, first, each, periodS = 20, amplitude = unit.hasCamera ? 0.3 : 1 } = situation;
  const { pico, robot } = createPico(unit, core, { seed: 1, images, body });
  const { board } = pico;
  const { mechanics } = robot.physics;
  pico.shadow.isStrict = false;
  const send = ({ place, data }: Frame) => pico.write(place, data);
  const wait = (ms: number, until = () => false) => {
    let passed = 0;
    for (; passed < ms && !until(); passed += 1) {
      pico.tick();
      each?.(mechanics, passed);
    }
    return passed;
  };
  first?.(mechanics, board, board.supplyV / 24);
  wait(30);
  for (const frame of gainsFrames(unit, defaultGains(unit))) send(frame);
  send(frameOf(unit, REGISTERS.mode, { mode: 2 }));
  wait(3);
  expect(board.isEnabled).to.equal(true);
  const slot = unit.hasCamera ? 2 + motor : 0;
  const step = () =>
    send(frameOf(unit, REGISTERS.excitation, { slot, amplitude, period_s: Math.fround(periodS) }));
  const quarterV = board.supplyV / (unit.hasCamera ? 4 : 6);
  const voltage = () => {
    const { gimbalDrive, chassisDrive } = mechanics;
    const volts = unit.hasCamera
      ? [gimbalDrive.yawV, gimbalDrive.pitchV]
      : [chassisDrive.leftV, chassisDrive.rightV];
    return Math.abs(volts[motor] ?? 0);
  };
  const faults = () => bitNames(FAULTS, shown(pico, REGISTERS.status).faults);
  return { board, wait, step, voltage, isHard: () => voltage() > quarterV, faults };
}

for (const { volts, values } of ROBOTS)
  describe(`the firmware image for a robot with a supply of ${volts} V`, function () {
    this.timeout(120_000);
    let images = '';
    before(() => {
      images = imagesFor(values);
    });
    after(() => rmSync(images, { recursive: true }));

    for (const unit of UNIT_LIST) {
      for (const [failure, limitMs] of [
        ['stuck', 350],
        ['toggling', 60],
        ['reversed', 150],
      ] as const)
        for (const [motor, moment, beforeMs] of [
          [0, 'from the start of', 0],
          [1, 'from 15 ms into', 15],
        ] as const)
          it(`cuts the ${unit.name}'s torque within ${limitMs} ms${failure === 'stuck' ? ' and its motor voltage within 60 ms' : ''} if encoder ${'AB'[motor]} ${{ stuck: 'is stuck', toggling: 'only alternates between two counts', reversed: 'counts backwards' }[failure]} ${moment} a test step`, () => {
            const { board, wait, step, voltage, isHard, faults } = driven(unit, images, motor);
            if (beforeMs > 0) step();
            wait(beforeMs);
            board.encoders[motor].failure = failure;
            if (beforeMs === 0) step();
            wait(20, isHard);
            const powerMs = wait(60, () => !board.isEnabled || voltage() === 0);
            expect(powerMs + wait(1000, () => !board.isEnabled)).to.be.at.most(limitMs);
            if (failure !== 'reversed') expect(powerMs).to.be.below(60);
            expect(faults()).to.include('encoder_failed');
          });

      for (const [what, situation] of Object.entries(situations(volts)[unit.name]))
        it(`does not mistake working encoders for failed ones, and leaves the torque on, in a ${unit.name} ${what}`, () => {
          const { board, wait, step } = driven(unit, images, 0, situation);
          step();
          expect(wait(1000, () => !board.isEnabled)).to.equal(1000);
        });
    }
  });
