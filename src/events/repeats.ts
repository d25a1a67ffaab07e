import type { Clock, Timer } from '../core/clock.js';
import type { Happening } from '../schemas/log.js';

const SUMMARY_MS = 60_000;
/**
 * How many senders are counted one by one. Addresses are cheap to whoever has many, so beyond this number all are
 * counted together.
 */
const MOST_OPEN = 200;
const OTHERS = 'others';

interface Open {
  readonly happening: Happening;
  count: number;
  readonly end: Timer;
}

/**
 * Makes one line a minute, with a count, of what somebody asks again and again: equal refusals, and an act that was done
 * just before and is done once more, such as the stop of a client that repeats it.
 */
export class Repeats {
  readonly #clock: Clock;
  readonly #summarise: (happening: Happening) => void;
  readonly #open = new Map<string, Open>();
  /** The key of the last act that was done; empty where something happened by itself since. */
  #lastDone = '';

  constructor(clock: Clock, summarise: (happening: Happening) => void) {
    this.#clock = clock;
    this.#summarise = summarise;
  }

  isNew(happening: Happening): boolean {
    const { who, outcome } = happening;
    if (who === undefined || outcome === undefined) {
      this.#lastDone = '';
      return true;
    }
    const key = keyOf(happening);
    if (outcome === 'done' && key !== this.#lastDone) {
      // Something else was done since, so this one is no repeat, even if an older one was equal.
      this.#summary(key);
      this.#lastDone = key;
    }
    const known = this.#open.get(key);
    if (known !== undefined) {
      known.count += 1;
      return false;
    }
    if (this.#open.size >= MOST_OPEN && who !== OTHERS) {
      return outcome === 'done' || this.isNew({ what: happening.what, who: OTHERS, outcome });
    }
    const end = this.#clock.after(SUMMARY_MS, () => this.#summary(key));
    this.#open.set(key, { happening, count: 0, end });
    return true;
  }

  /** Writes a line for everything that was counted. */
  close(): void {
    for (const key of [...this.#open.keys()]) this.#summary(key);
  }

  /** Writes a line for what was counted under this key, whose next event is then new again. */
  #summary(key: string): void {
    const open = this.#open.get(key);
    if (open === undefined) return;
    open.end.cancel();
    this.#open.delete(key);
    const { happening, count } = open;
    if (count > 0) this.#summarise({ ...happening, detail: { ...happening.detail, repeats: count } });
  }
}

function keyOf({ what, unit, who, outcome, detail }: Happening): string {
  return JSON.stringify([what, unit, who, outcome, outcome === 'done' ? detail : undefined]);
}
