#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { randomHistory } from './history.js';
import { testOf } from './print-test.js';
import { Random } from './random.js';
import { shrink } from './shrink.js';
import { walk } from './walk.js';

const { values } = parseArgs({
  allowNegative: true,
  options: {
    steps: { type: 'string', default: '10000' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    /** Goes on after a find, and shows one of each kind. */
    all: { type: 'boolean', default: false },
    shrink: { type: 'boolean', default: true },
  },
});
const steps = Number(values.steps);
const seed = Number(values.seed);
const random = new Random(seed);
const startedMs = performance.now();
const kinds = new Map<string, number>();
let walked = 0;
let robotMs = 0;
while (walked < steps) {
  const history = randomHistory(random, Math.min(random.whole(8, 80), Math.max(2, steps - walked)));
  walked += history.steps.length;
  const broken = await walk(history, ms => {
    robotMs += ms;
  });
  if (broken === undefined) continue;
  const times = kinds.get(broken.promise) ?? 0;
  kinds.set(broken.promise, times + 1);
  if (times === 0) {
    const shortest = values.shrink ? await shrink({ history, broken }) : { history, broken };
    console.log(`${shortest.broken.message}\n${testOf(shortest)}\n`);
  }
  if (!values.all) break;
}
const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
console.log(
  `${walked} steps of seed ${seed} in ${seconds} s: ${(robotMs / 60_000).toFixed(1)} minutes of robot`,
);
for (const [kind, times] of kinds) console.log(`  broken ${times} times: ${kind}`);
process.exitCode = kinds.size > 0 ? 1 : 0;
