import { type Loop, UNIT_LIST, type UnitName } from '../../src/core/units.js';
import { RobotTrial } from './robot-trial.js';

/** Part of the largest amplitude that the steps of the table have. */
const PART = 0.3;
const PERIOD_S = 6;
const SEED = 1;

function digits(value: number | null, places: number): string {
  if (value === null) return '–';
  const text = value.toFixed(places);
  return Number(text) === 0 ? (0).toFixed(places) : text;
}

function row(unit: UnitName, { name, quantity, maxAmplitude, defaults: { kp, ki, kd } }: Loop): string {
  const robot = new RobotTrial({ seed: SEED });
  robot.run(1);
  const figures = robot.step(unit, name, PART * maxAmplitude, PERIOD_S);
  const cells = [
    `\`${name}\``,
    `${kp} / ${ki} / ${kd}`,
    `${digits(2 * PART * maxAmplitude, 2)} ${quantity}`,
    digits(figures.overshootPercent, 1),
    digits(figures.riseS, 3),
    digits(figures.settlingS, 3),
    digits(figures.steadyError, 3),
  ];
  return `| ${cells.join(' | ')} |`;
}

/** Root mean square and largest of what is sampled in every period of a minute of auto. */
function tracking(
  chassisMode: 'manual' | 'auto',
  samples: readonly [string, (robot: RobotTrial) => number][],
) {
  const robot = new RobotTrial({ seed: SEED });
  robot.command('gimbal', { mode: 'auto' });
  robot.command('chassis', { mode: chassisMode });
  robot.run(5);
  const sums = samples.map(() => ({ squares: 0, most: 0, count: 0 }));
  robot.run(60, () => {
    samples.forEach(([, sample], index) => {
      const sum = sums[index];
      if (sum === undefined) return;
      const value = Math.abs(sample(robot));
      sum.squares += value * value;
      sum.most = Math.max(sum.most, value);
      sum.count += 1;
    });
  });
  return sums.map(({ squares, most, count }, index) => {
    const rms = Math.sqrt(squares / count);
    return `| ${samples[index]?.[0]} | ${digits(rms, 3)} | ${digits(most, 3)} |`;
  });
}

const error = (unit: UnitName, loop: string) => (robot: RobotTrial) => {
  const { setpoint, measured } = robot.reading(unit, loop);
  return setpoint - measured;
};
const beside = (robot: RobotTrial) => Number(robot.physics.loops.chassis.axes.besideCourseM);

/** What the default gains make of the simulated robot, as two Markdown tables. */
export function defaultFigures(): string {
  return [
    '| loop | kp / ki / kd | step | overshoot % | rise s | settling s | steady error |',
    '|---|---|---|---|---|---|---|',
    ...UNIT_LIST.flatMap(unit => unit.loops.map(loop => row(unit.name, loop))),
    '',
    '| error in auto | r.m.s. | largest |',
    '|---|---|---|',
    ...tracking('manual', [
      ['target off the boresight, yaw, chassis standing (rad)', error('gimbal', 'visual_yaw')],
      ['target off the boresight, pitch, chassis standing (rad)', error('gimbal', 'visual_pitch')],
    ]),
    ...tracking('auto', [
      ['target off the boresight, yaw, chassis on its course (rad)', error('gimbal', 'visual_yaw')],
      ['target off the boresight, pitch, chassis on its course (rad)', error('gimbal', 'visual_pitch')],
      ['place along the course (m)', error('chassis', 'position')],
      ['distance beside the course (m)', beside],
      ['heading (rad)', error('chassis', 'angle')],
      ['speed (m/s)', error('chassis', 'speed')],
    ]),
    '',
  ].join('\n');
}
