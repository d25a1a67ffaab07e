#!/usr/bin/env node
import { optionsOf, script, wholeNumberOf } from '../script.js';
import { testOf } from './print-test.js';
import { randomWalks } from './random-walks.js';
import { shrink } from './shrink.js';
import { walk } from './walk.js';

const values = optionsOf({
  steps: { type: 'string', default: '10000' },
  seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
  /** Goes on after a find, and shows the first of each kind. */
  all: { type: 'boolean', default: false },
});
const seed = wholeNumberOf('seed', values.seed, 0);
const steps = wholeNumberOf('steps', values.steps, 1);

await script(async () => {
  const startedMs = performance.now();
  const kinds = new Map<string, number>();
  let last = { steps: 0, robotMs: 0, slowestRestMs: 0 };
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
  console.log(`everything agreed at most ${last.slowestRestMs} ms after the last fault`);
  console.log(`${last.steps} steps of seed ${seed}, ${minutes} minutes of robot, in ${seconds} s`);
  for (const [kind, times] of kinds) console.log(`broken ${times} times: ${kind}`);
  process.exitCode = kinds.size > 0 ? 1 : 0;
});
