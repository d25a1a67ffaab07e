import type { Clock } from '../core/clock.js';
import { RobotError } from '../core/errors.js';
import type { MatchStatus } from '../schemas/match.js';

/**
 * The name that a desk gives itself, and the name of its token. Without tokens, the address of the desk
 * instead.
 */
type LeaseOwner = NonNullable<MatchStatus['lease']>;

/** Decides which referee's desk controls the match. Only one desk does at a time. */
export class Lease {
  readonly #clock: Clock;
  #owner: LeaseOwner | null = null;
  #ttlMs = 0;
  #beatMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The desk whose beat was accepted last; null before the first. */
  get owner(): LeaseOwner | null {
    return this.#owner;
  }

  /** Milliseconds since the last accepted beat. */
  get silentMs(): number {
    return this.#clock.nowMs() - this.#beatMs;
  }

  /**
   * Gives the lease to this desk for `ttlMs`. Throws `lease-held` if another desk has it, unless `takeover` is true.
   */
  beat({ holder, by }: LeaseOwner, ttlMs: number, takeover: boolean): void {
    if (!takeover) this.#requireFree(owner => owner.by === by && owner.holder === holder);
    this.#owner = { holder, by };
    this.#ttlMs = ttlMs;
    this.#beatMs = this.#clock.nowMs();
  }

  /** Throws `lease-held` while another token has a live lease. */
  requireNoOther(by: string): void {
    this.#requireFree(owner => owner.by === by);
  }

  /** Frees the lease, unless one of these callers has it. */
  keepOnlyOf(names: readonly string[]): void {
    if (this.#owner !== null && !names.includes(this.#owner.by)) this.#ttlMs = 0;
  }

  #requireFree(isOwn: (owner: LeaseOwner) => boolean): void {
    const owner = this.#owner;
    if (owner === null || isOwn(owner) || this.silentMs >= this.#ttlMs) return;
    throw new RobotError('lease-held', owner);
  }
}
