#!/usr/bin/env node
import { argumentsOf, script, wholeNumberOf } from '../../scripts/script.js';
import { testOf } from './print-test.js';
import { randomWalks } from './random-walks.js';
import { shrink } from './shrink.js';
import { walk } from './walk.js';

const { values } = argumentsOf(
  { command: 'npm run walk', about: 'Random histories of the robot, judged by a model of its promises.' },
  {
    steps: { type: 'string', default: '10000', about: 'total number of steps' },
    seed: { type: 'string', about: 'number that fixes the random histories (default: a new one)' },
    all: { type: 'boolean', about: 'continues after a broken promise, and shows one of each kind' },
  },
);
const seed = wholeNumberOf('seed', values.seed ?? String(Date.now() % 2 ** 31), 0);
const steps = wholeNumberOf('steps', values.steps, 1);

await script(async () => {
  const startedMs = performance.now();
  const kinds = new Map<string, number>();
  let last = { steps: 0, robotMs: 0, slowestSettleMs: 0 };
  for await (const walked of randomWalks(seed, steps)) {
    last = walked;
    const { found } = walked;
    if (found === undefined) continue;
    const times = kinds.get(found.broken.promise) ?? 0;
    kinds.set(found.broken.promise, times + 1);
    if (times === 0) console.log(`${testOf(await shrink(found, walk))}\n`);
    if (!values.all) break;
  }
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  const minutes = (last.robotMs / 60_000).toFixed(1);
  console.log(`all units were consistent at most ${last.slowestSettleMs} ms after the last fault`);
  console.log(`${last.steps} steps of seed ${seed}, ${minutes} minutes of robot, in ${seconds} s`);
  for (const [kind, times] of kinds) console.log(`broken ${times} times: ${kind}`);
  process.exitCode = kinds.size > 0 ? 1 : 0;
});
