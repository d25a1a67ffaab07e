import type { Clock } from '../core/clock.js';
import { MAX_HOLD_MS } from '../core/units.js';

/** Requests that the kernel kept during a pause arrive within this time after it. */
const ARRIVES_MS = 100;

/** Notices by a late timer that the whole process was paused for longer than any drive command holds. */
export class PauseWatch {
  readonly #clock: Clock;
  #dueMs = Number.POSITIVE_INFINITY;
  #endedMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Call this when the timer runs, with the time at which it runs next. */
  ranUntil(dueMs: number): void {
    this.#look();
    this.#dueMs = dueMs;
  }

  /** Whether requests of a pause may still arrive. Nobody knows when they were sent. */
  get hasJustEnded(): boolean {
    return this.#look() - this.#endedMs < ARRIVES_MS;
  }

  #look(): number {
    const nowMs = this.#clock.nowMs();
    if (nowMs - this.#dueMs > MAX_HOLD_MS) this.#endedMs = nowMs;
    return nowMs;
  }
}
