import type { Clock, Timer } from '../../src/core/clock.js';

interface Due {
  readonly atMs: number;
  readonly act: () => void;
}

/** After this many turns of the event loop, all promises that do not wait for the clock have settled. */
const TURNS = 5;

/** A shorter delay could be lost in rounding, and time would not pass. A timer without delay is due at once. */
const SHORTEST_MS = 0.001;

/** A clock whose time passes only when a test says so. */
export class ManualClock implements Clock {
  #nowMs = 0;
  #wallOffsetMs = Date.UTC(2030, 0, 1);
  /** Ordered by due time. */
  readonly #due: Due[] = [];
  readonly #turns: () => number;

  /** `turns`: the turns of the event loop that each timer gets, until everything waits for the clock again. */
  constructor(turns: () => number = () => TURNS) {
    this.#turns = turns;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  after(delayMs: number, act: () => void): Timer {
    const due: Due = { atMs: this.#nowMs + (delayMs <= 0 ? 0 : Math.max(SHORTEST_MS, delayMs)), act };
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

  /** Lets time pass as if the event loop were late: no timer runs until the clock advances. */
  late(ms: number): void {
    this.#nowMs += ms;
  }

  /** Runs due timers in their order, and lets promises settle after each. Stops early if `until` holds. */
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
      await settle(this.#turns());
    }
  }

  /** Lets time pass until the promise has settled. */
  async during<T>(promise: Promise<T>, limitMs = 20_000): Promise<T> {
    let settled = false;
    const end = promise.finally(() => {
      settled = true;
    });
    end.catch(() => undefined);
    await this.advance(limitMs, () => settled);
    if (!settled) throw new Error(`not settled within ${limitMs} ms`);
    return end;
  }
}

/** Lets promises settle that wait for no time. */
export async function settle(turns = TURNS): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await new Promise(resolve => setImmediate(resolve));
}
