import type { Clock, Timer } from '../../src/core/clock.js';

interface Due {
  readonly atMs: number;
  readonly act: () => void;
}

/** Time that passes when a test says so. */
export class ManualClock implements Clock {
  #nowMs = 0;
  readonly #due = new Set<Due>();

  nowMs(): number {
    return this.#nowMs;
  }

  after(delayMs: number, act: () => void): Timer {
    const due: Due = { atMs: this.#nowMs + delayMs, act };
    this.#due.add(due);
    return { cancel: () => this.#due.delete(due) };
  }

  wallTime(): Date {
    return new Date(Date.UTC(2030, 0, 1) + this.#nowMs);
  }

  /** Runs what falls due in its order, and lets promises settle after each. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms;
    await settle();
    for (;;) {
      const [next] = [...this.#due].filter(due => due.atMs <= untilMs).sort((a, b) => a.atMs - b.atMs);
      if (next === undefined) break;
      this.#due.delete(next);
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.act();
      await settle();
    }
    this.#nowMs = untilMs;
  }
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise(resolve => setImmediate(resolve));
}
