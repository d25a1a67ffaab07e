import type { Clock, Timer } from '../core/clock.js';
import type { Happening } from '../schemas/log.js';
import { keyOf, withCount } from './acts.js';
import { Repeats } from './repeats.js';

/** Bystanders have this many lines in a run, and one more for so many lines of the others. */
const FIRST_LINES = 32;
const OTHERS_PER_LINE = 4;
const COUNT_MS = 60_000;

/**
 * Decides which acts of bystanders get a line of their own, so that bystanders never fill the log. An act
 * that changed nothing gets none if an equal one had a line within the last minute. Acts for which there is no line left
 * share one event `unlisted`, at most once a minute. It counts them, and by their names those that changed something.
 */
export class Quota {
  readonly #clock: Clock;
  readonly #add: (event: Happening) => void;
  readonly #repeats: Repeats<Happening>;
  #lines = FIRST_LINES;
  #unlisted = { requests: 0, changes: new Map<string, number>() };
  #timer: Timer | undefined;

  constructor(clock: Clock, add: (event: Happening) => void) {
    this.#clock = clock;
    this.#add = add;
    this.#repeats = new Repeats(clock, (event, repeats) => this.#line(withCount(event, repeats), repeats));
  }

  /** There was a line of the robot's own, or of a caller with a right to act. */
  otherLine(): void {
    this.#lines += 1 / OTHERS_PER_LINE;
  }

  /** `changed` says that the act changed something on the robot. */
  record(event: Happening, changed: boolean): void {
    const key = keyOf(event);
    if (!changed && this.#repeats.count(key)) return;
    this.#repeats.end(key);
    if (this.#line(event, 1)) this.#repeats.begin(key, event);
    else if (changed)
      this.#unlisted.changes.set(event.what, (this.#unlisted.changes.get(event.what) ?? 0) + 1);
  }

  close(): void {
    this.#repeats.close();
    this.#timer?.cancel();
    if (this.#unlisted.requests > 0) this.#tell();
  }

  /** Returns false if there is no line left. The requests are counted then. */
  #line(event: Happening, requests: number): boolean {
    if (this.#lines >= 1 && this.#unlisted.requests === 0) {
      this.#lines -= 1;
      this.#add(event);
      return true;
    }
    this.#unlisted.requests += requests;
    this.#timer ??= this.#clock.after(COUNT_MS, () => this.#tellLater());
    return false;
  }

  #tellLater(): void {
    this.#timer = undefined;
    // A change is told in any case. Another line has told it already, so there are not more of these than of the others.
    if (this.#lines >= 1 || this.#unlisted.changes.size > 0) this.#tell();
    else this.#timer = this.#clock.after(COUNT_MS, () => this.#tellLater());
  }

  #tell(): void {
    const { requests, changes } = this.#unlisted;
    this.#lines = Math.max(0, this.#lines - 1);
    this.#unlisted = { requests: 0, changes: new Map() };
    this.#add({ what: 'unlisted', detail: { requests, ...Object.fromEntries(changes) } });
  }
}
