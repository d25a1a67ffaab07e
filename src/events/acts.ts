import type { Clock } from '../core/clock.js';
import type { Happening } from '../schemas/log.js';
import { Repeats } from './repeats.js';

/** The number of senders whose repeats are counted one by one. The repeats of all further senders share one count. */
const MOST_OPEN = 200;
const OTHERS = 'others';

/**
 * Decides which acts of callers with rights get a line of their own. Equal refusals share one line a minute with a count.
 * So does an act that was done just before and is done again, such as the stop of a client that repeats it.
 */
export class Acts {
  readonly #add: (event: Happening) => void;
  readonly #repeats: Repeats<Happening>;
  /** The key of the last act that was done; empty after a change that the robot made. */
  #lastDone = '';

  constructor(clock: Clock, add: (event: Happening) => void) {
    this.#add = add;
    this.#repeats = new Repeats(clock, (event, repeats) => add(withCount(event, repeats)));
  }

  record(event: Happening): void {
    const { what, who, outcome } = event;
    if (who === undefined || outcome === undefined) {
      this.#lastDone = '';
      this.#add(event);
      return;
    }
    const isDone = outcome === 'done';
    const key = keyOf(event, isDone);
    if (isDone && key !== this.#lastDone) {
      // Something else was done in between, so this is a new act even if an older one was equal.
      this.#repeats.end(key);
      this.#lastDone = key;
    }
    if (this.#repeats.count(key)) return;
    const isCounted = this.#repeats.size < MOST_OPEN || who === OTHERS;
    if (isCounted) this.#repeats.begin(key, event);
    if (isCounted || isDone) this.#add(event);
    else this.record({ what, who: OTHERS, outcome });
  }

  close(): void {
    this.#repeats.close();
  }
}

export function withCount(event: Happening, repeats: number): Happening {
  return { ...event, detail: { ...event.detail, repeats } };
}

export function keyOf({ what, unit, who, outcome, detail }: Happening, withDetail = false): string {
  return JSON.stringify([what, unit, who, outcome, withDetail ? detail : undefined]);
}
