import type { Clock, Timer } from '../core/clock.js';
import type { NewEvent } from '../schemas/log.js';

const SUMMARY_MS = 60_000;

interface Open {
  readonly first: NewEvent;
  count: number;
  readonly end: Timer;
}

/** Counts events that repeat under the same key. Once a minute, passes on the first event with the count. */
export class Repeats {
  readonly #clock: Clock;
  readonly #summarise: (first: NewEvent, repeats: number) => void;
  readonly #open = new Map<string, Open>();

  constructor(clock: Clock, summarise: (first: NewEvent, repeats: number) => void) {
    this.#clock = clock;
    this.#summarise = summarise;
  }

  /** Counts a repeat if the key is known. Returns whether it is known. */
  count(key: string): boolean {
    const open = this.#open.get(key);
    if (open !== undefined) open.count += 1;
    return open !== undefined;
  }

  /** Starts to count repeats of this key. */
  begin(key: string, first: NewEvent): void {
    const end = this.#clock.after(SUMMARY_MS, () => this.end(key));
    this.#open.set(key, { first, count: 0, end });
  }

  /** Passes on the count of this key. */
  end(key: string): void {
    const open = this.#open.get(key);
    if (open === undefined) return;
    open.end.cancel();
    this.#open.delete(key);
    if (open.count > 0) this.#summarise(open.first, open.count);
  }

  close(): void {
    for (const key of [...this.#open.keys()]) this.end(key);
  }
}
