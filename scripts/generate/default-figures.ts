import { BareRobot } from '../../sim/bare-robot.js';
import { trackingErrors } from '../../sim/tracking-errors.js';
import { type Loop, UNIT_LIST, type UnitName } from '../../src/core/units.js';

/** Amplitude of the steps in the table, as a part of the largest amplitude. */
const PART = 0.3;
const PERIOD_S = 6;
const SEED = 1;

function digits(value: number | null, places: number): string {
  if (value === null) return '–';
  const text = value.toFixed(places);
  return Number(text) === 0 ? (0).toFixed(places) : text;
}

function row(unit: UnitName, { name, quantity, maxAmplitude, defaults: { kp, ki, kd } }: Loop): string {
  const robot = new BareRobot({ seed: SEED });
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

/** The figures of the default gains on the simulated robot, as two Markdown tables. */
export function defaultFigures(): string {
  return [
    '| loop | kp / ki / kd | step | overshoot % | rise s | settling s | steady error |',
    '|---|---|---|---|---|---|---|',
    ...UNIT_LIST.flatMap(unit => unit.loops.map(loop => row(unit.name, loop))),
    '',
    '| error in auto | r.m.s. | largest |',
    '|---|---|---|',
    ...trackingErrors({ seed: SEED }).map(
      ({ what, rms, most }) => `| ${what} | ${digits(rms, 3)} | ${digits(most, 3)} |`,
    ),
  ].join('\n');
}
