import type { Clock } from '../core/clock.js';

/** Why a tuning ended before its end. */
export class Aborted extends Error {}

/** What one tuning waits for, until it is aborted. */
export class Patience {
  readonly #clock: Clock;
  readonly #waits = new Set<() => void>();
  #aborted: Aborted | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isOver(): boolean {
    return this.#aborted !== undefined;
  }

  /** Every wait rejects, and everything that is begun from now on. */
  abort(why: string): void {
    this.#aborted ??= new Aborted(why);
    this.look();
  }

  /** Throws why it was aborted. */
  requireGoing(): void {
    if (this.#aborted !== undefined) throw this.#aborted;
  }

  /** Something that is waited for may have happened. */
  look(): void {
    for (const look of this.#waits) look();
  }

  /** `holds` is asked at once and at each look. Resolves when it holds or `limitMs` are over, rejects when all is aborted. */
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
