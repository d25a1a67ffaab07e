import { Random } from '../support/random.js';
import { randomHistory } from './random-history.js';
import type { Found } from './shrink.js';
import { type WalkEnd, walk } from './walk.js';

/** The number of steps in a history: enough to find faults, and few enough to read and to shrink quickly. */
const LENGTH = { min: 8, max: 80 };

/** Counts over all histories so far. */
export interface Walked extends Omit<WalkEnd, 'broken'> {
  readonly steps: number;
  /** The promise that the last history broke. */
  readonly found: Found | undefined;
}

/** Runs random histories until this number of steps is reached. The same seed gives the same histories. */
export async function* randomWalks(seed: number, steps: number): AsyncGenerator<Walked> {
  const random = new Random(seed);
  let walked = 0;
  let robotMs = 0;
  let slowestSettleMs = 0;
  while (walked < steps) {
    const length = Math.min(random.whole(LENGTH.min, LENGTH.max), Math.max(2, steps - walked));
    const history = randomHistory(random, length);
    walked += history.steps.length;
    const { broken, ...end } = await walk(history);
    robotMs += end.robotMs;
    slowestSettleMs = Math.max(slowestSettleMs, end.slowestSettleMs);
    yield { steps: walked, robotMs, slowestSettleMs, found: broken && { history, broken } };
  }
}
