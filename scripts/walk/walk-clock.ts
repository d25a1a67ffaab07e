import type { Clock, Timer } from '../../src/core/clock.js';

interface Due {
  readonly atMs: number;
  readonly act: () => void;
}

/** Turns of the event loop until nothing moves any more without time: for a bus transaction, and for a request. */
const TURNS = { quiet: 2, asked: 5 } as const;

/** Timers of the system take a millisecond at least. Shorter ones may be lost in rounding, and time would not go on. */
const SHORTEST_MS = 0.001;

/** Simulated time. It stands still while anything can happen without it. */
export class WalkClock implements Clock {
  #nowMs = 0;
  #wallOffsetMs = Date.UTC(2030, 0, 1);
  readonly #due: Due[] = [];
  readonly #isAsked: () => boolean;

  /** `isAsked`: requests are on their way. */
  constructor(isAsked: () => boolean) {
    this.#isAsked = isAsked;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  after(delayMs: number, act: () => void): Timer {
    const due: Due = { atMs: this.#nowMs + Math.max(SHORTEST_MS, delayMs), act };
    const later = this.#due.findIndex(({ atMs }) => atMs > due.atMs);
    this.#due.splice(later < 0 ? this.#due.length : later, 0, due);
    return {
      cancel: () => {
        const place = this.#due.indexOf(due);
        if (place >= 0) this.#due.splice(place, 1);
      },
    };
  }

  wallTime(): Date {
    return new Date(this.#wallOffsetMs + this.#nowMs);
  }

  jumpWallTime(ms: number): void {
    this.#wallOffsetMs += ms;
  }

  /** Stops early when `until` holds. */
  async advance(ms: number, until: () => boolean = () => false): Promise<void> {
    const endMs = this.#nowMs + ms;
    await settle();
    while (!until()) {
      const next = this.#due[0];
      if (next === undefined || next.atMs > endMs) {
        this.#nowMs = endMs;
        return;
      }
      this.#due.shift();
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.act();
      await settle(this.#isAsked() ? TURNS.asked : TURNS.quiet);
    }
  }
}

export async function settle(turns: number = TURNS.asked): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await new Promise(resolve => setImmediate(resolve));
}
