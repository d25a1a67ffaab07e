import type { Clock, Timer } from '../core/clock.js';
import type { NewEvent } from '../schemas/log.js';
import { Repeats } from './repeats.js';

/** After this many lines about successful acts, one more line is allowed. */
const OTHERS_PER_LINE = 4;
const COUNT_MS = 60_000;

/**
 * Decides which refusals, and which acts of callers without rights, get a line of their own. It keeps them from
 * filling the log. An act that changed nothing gets no line if an equal one had a line within the last minute. If no
 * line is left, acts share one event `unlisted`, at most once a minute. That event counts these acts, and lists the
 * names of those that changed something.
 */
export class Quota {
  readonly #clock: Clock;
  readonly #add: (event: NewEvent) => void;
  readonly #repeats: Repeats;
  readonly #most: number;
  /** The lines that are left. */
  #lines: number;
  #unlisted = { requests: 0, changes: new Map<string, number>() };
  #timer: Timer | undefined;

  /** `most` lines may come at once. */
  constructor(clock: Clock, most: number, add: (event: NewEvent) => void) {
    this.#clock = clock;
    this.#most = most;
    this.#lines = most;
    this.#add = add;
    this.#repeats = new Repeats(clock, (event, repeats) =>
      this.#line({ ...event, detail: { ...event.detail, repeats } }, repeats),
    );
  }

  /** Call this for each line about a successful act. */
  otherLine(): void {
    this.#lines = Math.min(this.#most, this.#lines + 1 / OTHERS_PER_LINE);
  }

  /** `changed` says that the act changed something on the robot. */
  record(event: NewEvent, changed: boolean): void {
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

  /** Returns false if there is no line left. The requests are then counted as unlisted. */
  #line(event: NewEvent, requests: number): boolean {
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
    // Changes are always reported. There are few of them, because the robot's own events have lines already.
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

/** A key that is the same for equal acts. The detail of a refusal is ignored. */
function keyOf({ what, unit, who, outcome, detail }: NewEvent): string {
  return JSON.stringify([what, unit, who, outcome, outcome === 'done' ? detail : undefined]);
}
