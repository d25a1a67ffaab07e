import { trackingErrors } from '../../sim/trials/tracking.js';
import {
  defaultGains,
  type GainSet,
  type Loop,
  perUnit,
  UNIT_LIST,
  type UnitName,
} from '../../src/core/units.js';
import { optionsOf, refuse, script, wholeNumberOf } from '../script.js';
import { drawPictures } from './pictures.js';
import { ROBOTS } from './robots.js';
import { STARTS, type TuningTrial, tuningTrial } from './tuning-trial.js';

const USAGE = `Usage: npm run -s tune -- [options]     tunes the simulated robot, faster than real time

  --start NAME    ${Object.keys(STARTS).join(' | ')}; default x0.3
  --robot NAME    ${Object.keys(ROBOTS).join(' | ')}; default standard, and with --matrix all
  --seed N        of the camera's noise; default 1
  --loop NAME     this loop only; else every loop, from the inside out, and then a minute of auto
  --words         says what the tuner did
  --pictures DIR  draws how one loop is tuned, for docs/tuning.md
  --matrix        every start of every loop on every robot: half an hour of one core. With --robot or --loop that part of it
`;

const digits = (value: number | null | undefined, places: number) =>
  value === null || value === undefined ? '–' : value.toFixed(places);

/** Inner loops come before those whose output they are asked for. */
const INSIDE_OUT = UNIT_LIST.flatMap(unit => unit.loops.map(loop => ({ unit, loop }))).sort(
  (a, b) => depth(a.loop) - depth(b.loop),
);

function depth(loop: Loop): number {
  return loop.inner === undefined ? 0 : 1;
}

function row({
  loop,
  start,
  result,
  after,
  defaults,
  isGood,
  longestRingingS,
  seconds,
}: TuningTrial): string {
  const { kp, ki, kd } = after.gains;
  return [
    '',
    `\`${loop.name}\``,
    start,
    `${kp} / ${ki} / ${kd}`,
    digits(result.before.figures.settlingS, 3),
    digits(after.figures.settlingS, 3),
    digits(result.prediction?.design.evaluation.settlingS, 3),
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
    const trial = await tuningTrial(options, unit, loop, start, trialled => {
      if (only !== undefined) return;
      for (const name of ['gimbal', 'chassis'] as const) trialled.command(name, { gains: gains[name] });
    });
    gains[unit.name] = { ...gains[unit.name], [loop.name]: trial.after.gains };
    console.log(row(trial));
    if (words) console.log(`  ${trial.words.join('; ')} -> ${trial.result.state}: ${trial.result.why}`);
  }
  if (only !== undefined) return;
  console.log('\n| error in auto, r.m.s. | defaults | tuned | ratio |\n|---|---|---|---|');
  const before = trackingErrors(
    options,
    perUnit(unit => defaultGains(unit)),
  );
  trackingErrors(options, gains).forEach(({ what, rms }, index) => {
    const reference = before[index]?.rms ?? Number.NaN;
    console.log(`| ${what} | ${digits(reference, 4)} | ${digits(rms, 4)} | ${digits(rms / reference, 2)} |`);
  });
}

/** Standard robots are tuned with two seeds of noise, the others with one. */
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
          const trial = await tuningTrial({ seed, body }, unit, loop, start);
          count += 1;
          longestRingingS = Math.max(longestRingingS, trial.longestRingingS);
          if (trial.isGood) good += 1;
          else bad.push(`| ${robot} ${row(trial)}`);
        }
      }
    }
    console.log(`| ${robot} | ${good} of ${count} | ${digits(longestRingingS, 2)} |`);
  }
  if (bad.length > 0) console.log(`\nNot ok:\n${bad.join('\n')}`);
}

function requireKnown(option: string, asked: string | undefined, known: readonly string[]) {
  if (asked !== undefined && !known.includes(asked)) refuse(`no ${option} ${asked}: ${known.join(', ')}`);
}

async function main() {
  const values = optionsOf({
    start: { type: 'string', default: 'x0.3' },
    robot: { type: 'string' },
    seed: { type: 'string', default: '1' },
    loop: { type: 'string' },
    words: { type: 'boolean', default: false },
    pictures: { type: 'string' },
    matrix: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  });
  const seed = wholeNumberOf('seed', values.seed, 0);
  requireKnown('start', values.start, Object.keys(STARTS));
  requireKnown('robot', values.robot, Object.keys(ROBOTS));
  requireKnown(
    'loop',
    values.loop,
    INSIDE_OUT.map(({ loop }) => loop.name),
  );
  if (values.help) console.log(USAGE);
  else if (values.pictures !== undefined) await drawPictures(values.pictures);
  else if (values.matrix) await matrix(values.robot, values.loop);
  else await tuneAll(values.start, values.robot ?? 'standard', seed, values.loop, values.words);
}

await script(main);
