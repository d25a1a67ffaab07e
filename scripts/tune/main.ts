import { trackingErrors } from '../../sim/tracking-errors.js';
import { progress } from '../../src/command/output.js';
import {
  defaultGains,
  type GainSet,
  type Loop,
  perUnit,
  UNIT_LIST,
  type UnitName,
} from '../../src/core/units.js';
import { argumentsOf, oneOf, script, wholeNumberOf } from '../script.js';
import { ROBOTS } from './robots.js';
import { type LoopTuning, STARTS, tuneLoop } from './tune-loop.js';

const digits = (value: number | null | undefined, places: number) =>
  value === null || value === undefined ? '–' : value.toFixed(places);

/** Inner loops come before the outer loops that command them. */
const INSIDE_OUT = UNIT_LIST.flatMap(unit => unit.loops.map(loop => ({ unit, loop }))).sort(
  (a, b) => depth(a.loop) - depth(b.loop),
);

function depth(loop: Loop): number {
  return loop.inner === undefined ? 0 : 1;
}

function row({ loop, start, result, after, defaults, isGood, longestRingingS, seconds }: LoopTuning): string {
  const { kp, ki, kd } = after.gains;
  return [
    '',
    `\`${loop.name}\``,
    start,
    `${kp} / ${ki} / ${kd}`,
    digits(result.before.figures.settlingS, 3),
    digits(after.figures.settlingS, 3),
    digits(result.predicted?.settlingS, 3),
    digits(defaults.figures.settlingS, 3),
    digits(after.figures.overshootPercent, 1),
    digits(longestRingingS, 2),
    digits(seconds, 0),
    isGood ? 'ok' : 'NOT ok',
    '',
  ]
    .join(' | ')
    .trim();
}

const HEAD = [
  '| loop | start | kp / ki / kd | settling s before | after | predicted | defaults | overshoot % | rang s | robot s | |',
  '|---|---|---|---|---|---|---|---|---|---|---|',
].join('\n');

async function tuneAll(start: string, robot: string, seed: number, only: string | undefined, words: boolean) {
  const options = { seed, body: ROBOTS[robot] ?? ROBOTS.standard };
  const gains: Record<UnitName, GainSet> = perUnit(unit =>
    Object.fromEntries(unit.loops.map(loop => [loop.name, STARTS[start]?.(loop.defaults) ?? loop.defaults])),
  );
  console.log(HEAD);
  for (const { unit, loop } of INSIDE_OUT) {
    if (only !== undefined && loop.name !== only) continue;
    progress(`tuning ${loop.name}`);
    const tuning = await tuneLoop(options, unit, loop, start, bare => {
      if (only !== undefined) return;
      for (const { name } of UNIT_LIST) bare.command(name, { gains: gains[name] });
    });
    gains[unit.name] = { ...gains[unit.name], [loop.name]: tuning.after.gains };
    progress('');
    console.log(row(tuning));
    if (words) console.log(`  ${tuning.words.join('; ')} -> ${tuning.result.state}: ${tuning.result.why}`);
  }
  if (only !== undefined) return;
  console.log('\n| error in auto, r.m.s. | defaults | tuned | ratio |\n|---|---|---|---|');
  const before = trackingErrors(options, perUnit(defaultGains));
  trackingErrors(options, gains).forEach(({ what, rms }, index) => {
    const reference = before[index]?.rms ?? Number.NaN;
    console.log(`| ${what} | ${digits(reference, 4)} | ${digits(rms, 4)} | ${digits(rms / reference, 2)} |`);
  });
}

/** The standard robot is tuned with two seeds of noise, the others with one. */
const SEEDS = (robot: string) => (robot === 'standard' ? [1, 2] : [1]);

async function matrix(onlyRobot: string | undefined, onlyLoop: string | undefined) {
  const bad: string[] = [];
  const robots = Object.entries(ROBOTS).filter(([name]) => onlyRobot === undefined || name === onlyRobot);
  const loops = INSIDE_OUT.filter(({ loop }) => onlyLoop === undefined || loop.name === onlyLoop);
  console.log('| robot | ok | longest ringing s |\n|---|---|---|');
  for (const [robot, body] of robots) {
    let good = 0;
    let count = 0;
    let longestRingingS = 0;
    for (const seed of SEEDS(robot)) {
      for (const { unit, loop } of loops) {
        for (const start of Object.keys(STARTS)) {
          progress(`tuning ${loop.name} of ${robot} from ${start}`);
          const tuning = await tuneLoop({ seed, body }, unit, loop, start);
          count += 1;
          longestRingingS = Math.max(longestRingingS, tuning.longestRingingS);
          if (tuning.isGood) good += 1;
          else bad.push(`| ${robot} ${row(tuning)}`);
        }
      }
    }
    progress('');
    console.log(`| ${robot} | ${good} of ${count} | ${digits(longestRingingS, 2)} |`);
  }
  if (bad.length > 0) console.log(`\nNot ok:\n${bad.join('\n')}`);
}

const names = {
  start: Object.keys(STARTS),
  robot: Object.keys(ROBOTS),
  loop: INSIDE_OUT.map(({ loop }) => loop.name),
};
const { values } = argumentsOf(
  {
    command: 'npm run -s tune',
    about: 'Tunes every loop of the simulated robot, faster than real time. A minute of auto follows.',
  },
  {
    start: { type: 'string', default: 'x0.3', about: names.start.join(' | ') },
    robot: { type: 'string', about: `${names.robot.join(' | ')} (default: standard, with --matrix all)` },
    seed: { type: 'string', default: '1', about: "of the camera's noise" },
    loop: { type: 'string', about: 'tunes only this loop' },
    words: { type: 'boolean', default: false, about: 'prints what the tuner did' },
    matrix: { type: 'boolean', about: 'every start of every loop on every robot: half an hour of one core' },
  },
);
const seed = wholeNumberOf('seed', values.seed, 0);
const start = oneOf('start', values.start, names.start);
const robot = values.robot && oneOf('robot', values.robot, names.robot);
const loop = values.loop && oneOf('loop', values.loop, names.loop);

await script(() =>
  values.matrix ? matrix(robot, loop) : tuneAll(start, robot ?? 'standard', seed, loop, values.words),
);
