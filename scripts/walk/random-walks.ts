import { Random } from './random.js';
import { randomHistory } from './random-history.js';
import type { Found } from './shrink.js';
import { type Figures, walk } from './walk.js';

/** The steps of one history: enough to meet anything, and few enough to be read, and shrunk in moments. */
const LENGTH = { min: 8, max: 80 };

/** The figures are of all histories so far. */
export interface Walked extends Figures {
  readonly steps: number;
  /** What the last one broke. */
  readonly found: Found | undefined;
}

/** Random histories, one after another, until there were so many steps. The same seed gives the same ones. */
export async function* randomWalks(seed: number, steps: number): AsyncGenerator<Walked> {
  const random = new Random(seed);
  let walked = 0;
  let robotMs = 0;
  let slowestRestMs = 0;
  while (walked < steps) {
    const length = Math.min(random.whole(LENGTH.min, LENGTH.max), Math.max(2, steps - walked));
    const history = randomHistory(random, length);
    walked += history.steps.length;
    const broken = await walk(history, figures => {
      robotMs += figures.robotMs;
      slowestRestMs = Math.max(slowestRestMs, figures.slowestRestMs);
    });
    yield { steps: walked, robotMs, slowestRestMs, found: broken && { history, broken } };
  }
}
