import type { Clock } from '../core/clock.js';
import { RobotError } from '../core/errors.js';

/** Decides which referee's desk speaks for the match: one at a time. */
export class Lease {
  readonly #clock: Clock;
  #holder: string | null = null;
  #by: string | null = null;
  #ttlMs = 0;
  #beatMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The holder whose beat was the last accepted one; null before the first. */
  get holder(): string | null {
    return this.#holder;
  }

  /** Token's name or address of the holder. */
  get by(): string | null {
    return this.#by;
  }

  /** Milliseconds since the last accepted beat. */
  get silentMs(): number {
    return this.#clock.nowMs() - this.#beatMs;
  }

  /** `ttlMs` is how long another holder has to wait. Throws `lease-held`. */
  beat(holder: string, by: string, ttlMs: number, takeover: boolean): void {
    const isFree = this.#holder === null || this.#holder === holder || this.silentMs >= this.#ttlMs;
    if (!isFree && !takeover) throw new RobotError('lease-held', { by: this.#holder ?? '' });
    this.#holder = holder;
    this.#by = by;
    this.#ttlMs = ttlMs;
    this.#beatMs = this.#clock.nowMs();
  }
}
