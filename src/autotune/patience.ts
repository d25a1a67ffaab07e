import type { Clock } from '../core/clock.js';

/** Waits on behalf of one tuning, until it is aborted. */
export class Patience {
  readonly #clock: Clock;
  readonly #waits = new Set<() => void>();
  /** Thrown where a tuning ends before it is complete; the message says why. */
  #aborted: Error | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isOver(): boolean {
    return this.#aborted !== undefined;
  }

  /** Rejects every wait, also those that are begun from now on. */
  abort(why: string): void {
    this.#aborted ??= new Error(why);
    this.look();
  }

  /** Throws after an abort. */
  requireGoing(): void {
    if (this.#aborted !== undefined) throw this.#aborted;
  }

  /** Has every wait look whether its condition holds. */
  look(): void {
    for (const look of this.#waits) look();
  }

  /**
   * Asks `holds` at once and at each look. Resolves when it holds or `limitMs` are over, and rejects when the tuning is
   * aborted.
   */
  until(holds: () => boolean, limitMs: number): Promise<void> {
    const untilMs = this.#clock.nowMs() + limitMs;
    return new Promise((resolve, reject) => {
      const look = () => {
        if (this.#aborted === undefined && !holds() && this.#clock.nowMs() < untilMs) return;
        this.#waits.delete(look);
        if (this.#aborted === undefined) resolve();
        else reject(this.#aborted);
      };
      this.#waits.add(look);
      look();
    });
  }
}
