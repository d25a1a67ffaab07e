import { expect } from 'chai';
import { BareRobot } from '../../sim/bare-robot.js';
import { ROBOT } from '../../sim/physics/robot-body.js';
import { FLOAT32_MAX, type Gains, MODES, UNIT_LIST, type UnitName } from '../../src/core/units.js';

const { gimbal: GIMBAL } = ROBOT;

interface Axis {
  readonly angleRad: number;
  readonly rateRadS: number;
}

function newRobot(seed = 1): BareRobot {
  return new BareRobot({ seed });
}

function axis(robot: BareRobot, name: 'yaw' | 'pitch'): Axis {
  return robot.physics.loops.gimbal.axes[name] as Axis;
}

function truth(robot: BareRobot, name: string): number {
  return Number(robot.physics.loops.chassis.axes[name]);
}

/** The visible state of the robot, with all digits. */
function snapshot(robot: BareRobot): string {
  const { gimbal, chassis } = robot.physics.loops;
  return JSON.stringify([gimbal.readings, gimbal.axes, chassis.readings, chassis.axes, chassis.pose]);
}

/** Largest change of the loop's output from one period to the next. */
function largestJump(robot: BareRobot, unit: UnitName, loop: string, seconds: number): number {
  const reading = robot.reading(unit, loop);
  let before = reading.output;
  let most = 0;
  robot.run(seconds, () => {
    most = Math.max(most, Math.abs(reading.output - before));
    before = reading.output;
  });
  return most;
}

const EXCITATION = { loop: 'angle_pitch', amplitude: 0.1, periodS: 1 };

describe('the simulated robot', () => {
  it('moves identically, to the last bit, for the same seed and the same commands', () => {
    const journey = (seed: number) => {
      const robot = newRobot(seed);
      const seen: string[] = [];
      for (const [gimbal, chassis] of [
        ['manual', 'auto'],
        ['auto', 'auto'],
        ['debug', 'manual'],
        ['auto', 'debug'],
      ] as const) {
        robot.command('gimbal', { mode: gimbal, excitation: EXCITATION });
        robot.command('chassis', { mode: chassis, excitation: { ...EXCITATION, loop: 'speed' } });
        robot.run(2, () => seen.push(snapshot(robot)));
      }
      return seen;
    };
    expect(journey(7)).deep.equal(journey(7));
    expect(journey(7)).not.deep.equal(journey(8));
  });

  it('at full speed in auto comes to rest within 1.5 s after a switch to manual, and stays at rest', () => {
    const robot = newRobot();
    robot.command('chassis', { mode: 'auto' });
    robot.run(4);
    expect(truth(robot, 'speedMS')).closeTo(0.5, 0.05);
    robot.command('chassis', { mode: 'manual' });
    robot.run(1.5);
    expect(truth(robot, 'speedMS')).closeTo(0, 0.002);
    expect(truth(robot, 'turnRadS')).closeTo(0, 0.01);
    const [x, y, pitch] = [truth(robot, 'xM'), truth(robot, 'yM'), axis(robot, 'pitch').angleRad];
    robot.run(5);
    expect(Math.hypot(truth(robot, 'xM') - x, truth(robot, 'yM') - y)).below(0.002);
    expect(axis(robot, 'pitch').angleRad).closeTo(pitch, 0.005);
  });

  it('in auto keeps the target in the picture and the chassis within 3 cm of its course', () => {
    const robot = newRobot();
    robot.command('gimbal', { mode: 'auto' });
    robot.command('chassis', { mode: 'auto' });
    robot.run(3);
    let lost = 0;
    let beside = 0;
    const places: number[] = [];
    robot.run(40, () => {
      lost += robot.physics.loops.gimbal.targetVisible ? 0 : 1;
      beside = Math.max(beside, Math.abs(truth(robot, 'besideCourseM')));
      places.push(robot.reading('chassis', 'position').measured);
    });
    expect(lost).equal(0);
    expect(beside).below(0.03);
    expect(Math.max(...places)).closeTo(12.24, 0.05);
    expect(places.filter((place, index) => place < (places[index - 1] ?? 0) - 1)).length.within(1, 2);
  });

  it('without torque lets the nose of the gimbal sink and the chassis roll until both are at rest', () => {
    const robot = newRobot();
    robot.command('gimbal', { mode: 'debug', excitation: { ...EXCITATION, amplitude: 0.3, periodS: 20 } });
    robot.command('chassis', { mode: 'auto' });
    robot.run(2);
    const raised = axis(robot, 'pitch').angleRad;
    robot.command('gimbal', { torque: false });
    robot.command('chassis', { torque: false });
    robot.run(0.01);
    expect(robot.reading('gimbal', 'angle_pitch').output).equal(0);
    expect(robot.reading('chassis', 'speed').output).equal(0);
    expect(truth(robot, 'speedMS')).above(0.3);
    robot.run(5);
    expect(axis(robot, 'pitch').angleRad).below(raised - 0.2);
    expect(axis(robot, 'pitch').rateRadS).closeTo(0, 1e-9);
    expect(truth(robot, 'speedMS')).closeTo(0, 1e-9);
  });

  for (const name of ['yaw', 'pitch'] as const) {
    for (const [amplitude, stop] of [
      [0.5, 'minRad'],
      [-0.5, 'maxRad'],
    ] as const) {
      it(`does not turn ${name} past the end stop at its ${stop === 'minRad' ? 'smallest' : 'largest'} angle, even if the motor pushes at full voltage`, () => {
        const loop = `angle_${name}`;
        const robot = newRobot();
        robot.setGains('gimbal', loop, { kp: -1000, ki: 0, kd: 0 });
        robot.command('gimbal', { mode: 'debug', excitation: { loop, amplitude, periodS: 20 } });
        robot.run(1, () => {
          expect(axis(robot, name).angleRad).within(GIMBAL[name].minRad, GIMBAL[name].maxRad);
        });
        expect(robot.reading('gimbal', loop).output).equal(amplitude > 0 ? -24 : 24);
        expect(axis(robot, name)).include({ angleRad: GIMBAL[name][stop], rateRadS: 0 });
      });
    }
  }

  it('turns the gimbal in the opposite direction when the chassis turns, and vice versa', () => {
    const robot = newRobot();
    robot.run(1);
    const excitation = { loop: 'angle', amplitude: 0.5, periodS: 20 };
    robot.command('chassis', { mode: 'debug', excitation });
    let yaw = 0;
    robot.run(0.3, () => {
      yaw = Math.min(yaw, axis(robot, 'yaw').angleRad);
    });
    expect(yaw).within(-0.05, -0.001);

    const other = newRobot();
    other.command('chassis', { torque: false });
    other.command('gimbal', {
      mode: 'debug',
      excitation: { loop: 'angle_yaw', amplitude: 0.5, periodS: 20 },
    });
    other.run(0.03);
    expect(truth(other, 'headingRad')).below(-1e-5);
  });

  it('slips when its wheels push too hard, so that it accelerates no faster than friction allows', () => {
    const robot = newRobot();
    robot.setGains('chassis', 'speed', { kp: 1000, ki: 0, kd: 0 });
    const excitation = { loop: 'speed', amplitude: 1, periodS: 2 };
    robot.command('chassis', { mode: 'debug', excitation });
    let slipped = 0;
    let fastest = 0;
    let before = 0;
    robot.run(3, () => {
      slipped += robot.physics.loops.chassis.axes.slipping === true ? 1 : 0;
      fastest = Math.max(fastest, Math.abs(truth(robot, 'speedMS') - before) * 1000);
      before = truth(robot, 'speedMS');
    });
    expect(slipped).above(20);
    expect(fastest).at.most(0.8 * 9.81 + 1e-9);
  });

  for (const [unit, loop] of [
    ['gimbal', 'angle_yaw'],
    ['gimbal', 'angle_pitch'],
    ['chassis', 'speed'],
    ['chassis', 'angle'],
  ] as const) {
    it(`does not let the output of the loop “${loop}” jump by 1 V or more when mode, gains or excitation change`, () => {
      const robot = newRobot();
      robot.command('gimbal', { mode: 'auto' });
      robot.run(3);
      for (const mode of ['auto', 'debug', 'auto', 'manual', 'debug', 'manual'] as const) {
        robot.command(unit, { mode });
        expect(largestJump(robot, unit, loop, 0.05), mode).below(1);
        robot.run(0.3);
      }
      const { kp, ki, kd } = robot.gains(unit)[loop]!;
      robot.command(unit, { mode: 'auto' });
      robot.run(2);
      robot.setGains(unit, loop, { kp: kp / 3, ki: 2 * ki, kd });
      expect(largestJump(robot, unit, loop, 0.05), 'gains').below(1);
      const excitation = { loop, amplitude: 0.3, periodS: 8 };
      for (const end of [{ excitation: { ...excitation, amplitude: 0 } }, { mode: 'auto' }] as const) {
        robot.command(unit, { mode: 'debug', excitation });
        robot.run(2);
        robot.command(unit, end);
        expect(largestJump(robot, unit, loop, 0.05), 'excitation').below(1);
      }
    });
  }

  for (const gain of [FLOAT32_MAX, -FLOAT32_MAX])
    it(`keeps all readings, positions and speeds below 10,000 even if ${gain > 0 ? 'kp and kd have the largest possible value and ki the smallest' : 'kp and kd have the smallest possible value and ki the largest'}`, () => {
      const robot = newRobot();
      for (const { name: unit, loops } of UNIT_LIST)
        for (const { name } of loops) robot.setGains(unit, name, { kp: gain, ki: -gain, kd: gain });
      for (const mode of MODES) {
        for (const { name } of UNIT_LIST) robot.command(name, { mode });
        robot.run(0.3);
        const numbers = snapshot(robot).match(/null|-?\d[\d.e+-]*/g) ?? [];
        for (const number of numbers) expect(Math.abs(Number(number))).below(1e4);
        expect(numbers).not.include('null');
      }
    });

  for (const unit of UNIT_LIST) {
    for (const { name, maxAmplitude, quantity, defaults } of unit.loops) {
      const amplitude = 0.3 * maxAmplitude;

      it(`settles a step of the loop “${name}” within 1 s and under 5 % overshoot with default gains, and clearly worse with bad gains`, () => {
        const { kp, ki, kd } = defaults;
        const figures = (gains: Gains) => {
          const robot = newRobot();
          robot.setGains(unit.name, name, gains);
          robot.run(1);
          return robot.step(unit.name, name, amplitude, 4);
        };
        const good = figures({ kp, ki, kd });
        expect(good.overshootPercent).below(5);
        expect(good.settlingS).below(1);
        expect(Math.abs(good.steadyError!), quantity).below(0.02 * amplitude);
        const bad = figures({ kp: kp / 5, ki: 20 * kp + 2 * ki, kd: 0 });
        expect(bad.overshootPercent! > 20 || bad.settlingS === null).equal(true);
        const weak = figures({ kp: kp / 20, ki: 0, kd });
        expect(weak.settlingS === null || weak.settlingS > 2 * good.settlingS!).equal(true);
      });
    }
  }
});
