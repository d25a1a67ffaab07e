import type { Clock, Timer } from '../core/clock.js';

const SUMMARY_MS = 60_000;

interface Open<T> {
  readonly first: T;
  count: number;
  readonly end: Timer;
}

/** Counts what repeats under the same key, and passes it on with the count once a minute. */
export class Repeats<T> {
  readonly #clock: Clock;
  readonly #summarise: (first: T, repeats: number) => void;
  readonly #open = new Map<string, Open<T>>();

  constructor(clock: Clock, summarise: (first: T, repeats: number) => void) {
    this.#clock = clock;
    this.#summarise = summarise;
  }

  /** The number of keys that are counted now. */
  get size(): number {
    return this.#open.size;
  }

  /** Counts a repeat, if the key is known. Returns whether it is. */
  count(key: string): boolean {
    const open = this.#open.get(key);
    if (open !== undefined) open.count += 1;
    return open !== undefined;
  }

  /** Counts what comes under this key from now on. */
  begin(key: string, first: T): void {
    const end = this.#clock.after(SUMMARY_MS, () => this.end(key));
    this.#open.set(key, { first, count: 0, end });
  }

  /** Passes on what was counted under this key. */
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
