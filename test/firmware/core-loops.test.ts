import { expect } from 'chai';
import { createCoreRobot } from '../../sim/core/core-robot.js';
import { type Controller, SimulatedController } from '../../sim/firmware/simulated-controller.js';
import { LAP_M } from '../../sim/loops/course.js';
import {
  FLOAT32_MAX,
  type GainSet,
  MODES,
  type Mode,
  perUnit,
  UNIT_LIST,
  type Unit,
  type UnitName,
  unitNamed,
} from '../../src/core/units.js';
import { bitNames } from '../../src/protocol/codec.js';
import { FLAGS, motionRegister, REGISTERS, telemetryRegister } from '../../src/protocol/registers.js';
import { stepFigures } from '../../src/tuning/step-figures.js';
import { Random } from '../support/random.js';
import { core, shown } from './core.js';
import { type Frame, frameOf, gainsFrames, RandomFrames } from './frames.js';

/** The two controllers of a robot. `step` moves the mechanics by one loop period. */
interface Robot {
  readonly controllers: Readonly<Record<UnitName, Controller>>;
  readonly step: () => void;
}

/**
 * The simulated firmware moves the mechanics. The core sees the same sensors and moves nothing. On its own mechanics,
 * the smallest rounding error could delay an encoder count by a period.
 */
function both(): readonly [Robot, Robot] {
  const { physics, port, controller } = createCoreRobot(core, { seed: 1 });
  const nothing = () => undefined;
  const { loops, loopRateHz, step } = physics;
  return [
    {
      controllers: perUnit(unit => controller(unit, { ...port(unit), drive: nothing, torque: nothing })),
      step: nothing,
    },
    {
      controllers: perUnit(unit => new SimulatedController(unit, loops[unit.name], loopRateHz, 1)),
      step,
    },
  ];
}

function write(robots: readonly Robot[], { name }: Unit, ...frames: readonly Frame[]): void {
  for (const { controllers } of robots)
    for (const { place, data } of frames) controllers[name].write(place, data);
}

function begin(robots: readonly Robot[], unit: Unit, mode: Mode, gains?: GainSet): void {
  write(robots, unit, ...gainsFrames(unit, gains));
  write(robots, unit, frameOf(unit, REGISTERS.mode, { mode: MODES.indexOf(mode) }));
}

function period({ controllers, step }: Robot): void {
  for (const controller of Object.values(controllers)) controller.tick();
  step();
}

function telemetry({ controllers }: Robot, unit: Unit): Readonly<Record<string, number>> {
  return shown(controllers[unit.name], telemetryRegister(unit));
}

/** The largest difference between any two telemetry values, in counts, over this many loop periods. */
function largestDifference(
  robots: readonly [Robot, Robot],
  unit: Unit,
  periods: number,
  isCompared = (_field: string) => true,
): number {
  const fields = telemetryRegister(unit).fields.filter(({ name }) => isCompared(name));
  let largest = 0;
  for (let count = 0; count < periods; count += 1) {
    const [core, simulated] = robots.map(robot => {
      period(robot);
      return telemetry(robot, unit);
    });
    for (const { name, scale = 0 } of fields) {
      const counts = Math.abs((simulated?.[name] ?? 0) - (core?.[name] ?? 0)) * scale;
      // At the end of the lap, the place starts again at 0.
      const around = name.startsWith('position') ? Math.abs(counts - LAP_M * scale) : counts;
      largest = Math.max(largest, Math.min(counts, around));
    }
  }
  return largest;
}

describe('the loops of the C core', () => {
  for (const unit of UNIT_LIST) {
    for (const loop of unit.loops) {
      const { slot, maxAmplitude, excitationPeriodS: period_s } = loop;
      const excitation = { slot, amplitude: 0.3 * maxAmplitude, period_s };

      it(`show the same telemetry as the simulated firmware, within 2 counts, during an excitation of ${loop.name}`, () => {
        const robots = both();
        begin(robots, unit, 'debug');
        expect(largestDifference(robots, unit, 500)).to.be.at.most(2.01);
        write(robots, unit, frameOf(unit, REGISTERS.excitation, excitation));
        expect(largestDifference(robots, unit, 6000)).to.be.at.most(2.01);
      });

      it(`have the same rise time, settling time, overshoot, final value and error as the simulated firmware, within 2 %, in a step of ${loop.name}`, () => {
        const { physics, controller } = createCoreRobot(core, { seed: 1 });
        const alone = { controllers: perUnit(one => controller(one)), step: physics.step };
        const [ours, theirs] = [alone, both()[1]].map(robot => {
          begin([robot], unit, 'debug');
          write([robot], unit, frameOf(unit, REGISTERS.excitation, { ...excitation, period_s: 6 }));
          const measured = Array.from({ length: 6000 }, () => {
            period(robot);
            return telemetry(robot, unit)[`${loop.name}.measured`] ?? Number.NaN;
          });
          return stepFigures({ measured: measured.slice(3000), periodS: 0.001 });
        });
        for (const name of ['riseS', 'settlingS', 'overshootPercent', 'finalValue', 'iae'] as const) {
          const expected = theirs?.[name] ?? Number.NaN;
          expect(ours?.[name], name).to.be.closeTo(expected, 0.02 * Math.abs(expected));
        }
      });

      it(`end a guarded excitation of ${loop.name} exactly when the simulated firmware does`, () => {
        const robots = both();
        begin(robots, unit, 'debug');
        const guarded = { ...excitation, deviation: excitation.amplitude / 2 };
        write(robots, unit, frameOf(unit, REGISTERS.guarded_excitation, guarded));
        const setpoint = () => telemetry(robots[0], unit)[`${loop.name}.setpoint`] ?? Number.NaN;
        const before = setpoint();
        expect(largestDifference(robots, unit, 500)).to.be.at.most(2.01);
        expect(setpoint()).to.be.closeTo(before, 0.001);
      });
    }

    it(`show the same telemetry as the simulated firmware, within 2 counts, during motions of the ${unit.name}`, () => {
      const robots = both();
      begin(robots, unit, 'manual');
      const [first, second] = unit.axes.map(({ name, greatestRate }) => [name, greatestRate / 3] as const);
      for (const rates of [[first], [second], [first, second]]) {
        const still = Object.fromEntries(unit.axes.map(({ name }) => [name, 0]));
        const values = {
          ...still,
          ...Object.fromEntries(rates.filter(rate => rate !== undefined)),
          hold_ms: 300,
        };
        write(robots, unit, frameOf(unit, motionRegister(unit), values));
        expect(largestDifference(robots, unit, 1000)).to.be.at.most(2.01);
      }
    });

    it(`show the same telemetry as the simulated firmware, within 2 counts, while the ${unit.name} runs in auto`, () => {
      const robots = both();
      for (const one of UNIT_LIST) begin(robots, one, 'auto');
      expect(largestDifference(robots, unit, 5000)).to.be.at.most(2.01);
    });
  }
});

describe('the C core, if the target is out of the picture for a time during an excitation of `visual_yaw`,', () => {
  it('shows the same telemetry as the simulated firmware, within 2 counts', () => {
    const [gimbal, chassis] = [unitNamed('gimbal'), unitNamed('chassis')];
    const robots = both();
    for (const unit of UNIT_LIST) begin(robots, unit, 'debug');
    write(robots, chassis, frameOf(chassis, REGISTERS.excitation, { slot: 1, amplitude: 1, period_s: 2 }));
    // The chassis has turned by 1 rad, and the target is outside the picture. In the next half it comes back.
    expect(largestDifference(robots, gimbal, 700)).to.be.at.most(2.01);
    write(robots, gimbal, frameOf(gimbal, REGISTERS.excitation, { slot: 0, amplitude: 0.05, period_s: 0.5 }));
    const seen = Array.from({ length: 10 }, () => {
      expect(largestDifference(robots, gimbal, 100)).to.be.at.most(2.01);
      return bitNames(FLAGS, shown(robots[0].controllers.gimbal, REGISTERS.status).flags).includes(
        'target_visible',
      );
    });
    expect(new Set(seen)).to.deep.equal(new Set([true, false]));
  });
});

describe('the C core under random modes, excitations, guards, stops and motions', () => {
  const SENT = ['mode', 'stop', 'excitation', 'guarded_excitation', 'motion'];
  /** The core's outputs have no effect on its sensors, so a rounding error in an output may grow. */
  const isCompared = (field: string) => !/^(angle|speed).*output$/.test(field);

  for (const seed of [1, 2, 3])
    it(`shows the same states, captures and setpoints as the simulated firmware, for random seed ${seed}`, () => {
      const random = new Random(seed);
      const frames = perUnit(unit => new RandomFrames(unit, random, ({ name }) => SENT.includes(name)));
      const robots = both();
      for (const unit of UNIT_LIST) begin(robots, unit, 'debug');
      for (let rounds = 0; rounds < 100; rounds += 1) {
        const unit = random.among(UNIT_LIST);
        if (random.chance(0.4)) write(robots, unit, frameOf(unit, REGISTERS.stop, { stop: 0 }));
        write(robots, unit, frames[unit.name].next());
        expect(largestDifference(robots, unit, random.whole(1, 500), isCompared)).to.be.at.most(2.01);
        for (const register of [REGISTERS.status, REGISTERS.capture]) {
          const [ours, theirs] = robots.map(({ controllers }) => shown(controllers[unit.name], register));
          expect(ours).to.deep.equal(theirs);
        }
      }
    });
});

describe('the C core with the largest possible gains', () => {
  for (const unit of UNIT_LIST)
    it(`keeps every output of the ${unit.name} between -24 and 24`, () => {
      const gains = { kp: FLOAT32_MAX, ki: -FLOAT32_MAX, kd: FLOAT32_MAX };
      const robots = both();
      begin(robots, unit, 'auto', Object.fromEntries(unit.loops.map(({ name }) => [name, gains])));
      for (let count = 0; count < 2000; count += 1) for (const robot of robots) period(robot);
      const { fields } = telemetryRegister(unit);
      const outputs = fields.filter(({ name }) => name.endsWith('output'));
      for (const { name } of outputs)
        expect(Math.abs(telemetry(robots[0], unit)[name] ?? Number.NaN)).to.be.at.most(24);
    });
});

describe('the C core, if its robot must not move by itself in auto,', () => {
  it('holds the gimbal although the camera sees a target beside the centre of its picture', () => {
    const { physics, port, controller } = createCoreRobot(core, { seed: 1 });
    const gimbal = unitNamed('gimbal');
    const picture = () => ({ visible: true, yawRad: 0.3, pitchRad: 0.1 });
    const controllers = perUnit(unit => controller(unit, { ...port(unit), autoMoves: () => false, picture }));
    const robot = { controllers, step: physics.step };
    begin([robot], gimbal, 'auto');
    for (let count = 0; count < 2000; count += 1) period(robot);
    const { 'angle_yaw.measured': yaw, 'angle_pitch.measured': pitch } = telemetry(robot, gimbal);
    expect([yaw, pitch].map(angle => Math.abs(angle ?? Number.NaN) < 0.02)).to.deep.equal([true, true]);
  });
});
