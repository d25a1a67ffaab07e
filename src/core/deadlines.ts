import type { Clock, Timer } from './clock.js';

/** The time of a deadline that is not set. */
export const NEVER = Number.POSITIVE_INFINITY;

/** A time at which something ends, in Clock milliseconds. When it has taken effect, it is NEVER. */
export interface Deadline {
  readonly atMs: number;
  set(atMs: number): void;
}

/**
 * A passed deadline takes effect when its timer runs or when somebody asks, whichever comes first. So no answer depends
 * on the order in which the event loop runs its callbacks.
 */
export class Deadlines {
  readonly #clock: Clock;
  /** The deadlines that are set, with their acts. Among equal times, the one that was set first comes first. */
  readonly #acts = new Map<Deadline, () => void>();
  #timer: Timer | undefined;
  #isJudging = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns a deadline that calls `act` when it passes. */
  make(act: () => void): Deadline {
    const deadline = {
      atMs: NEVER,
      set: (atMs: number) => {
        deadline.atMs = atMs;
        this.#acts.delete(deadline);
        if (atMs !== NEVER) this.#acts.set(deadline, act);
        this.#arm();
      },
    };
    return deadline;
  }

  /**
   * Lets all passed deadlines take effect, in the order of their times. Call this before every answer that a deadline may
   * change. Within an act this does nothing: later deadlines take effect after the act.
   */
  judge(): void {
    if (this.#isJudging) return;
    this.#isJudging = true;
    for (;;) {
      const first = this.#first;
      if (first === undefined || first.atMs > this.#clock.nowMs()) break;
      const act = this.#acts.get(first);
      first.set(NEVER);
      try {
        act?.();
      } catch (error) {
        // Ends the process, as an error in a timer does. The caller, who may switch the laser off, is served first.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
    this.#isJudging = false;
  }

  close(): void {
    for (const deadline of this.#acts.keys()) deadline.set(NEVER);
  }

  get #first(): Deadline | undefined {
    let first: Deadline | undefined;
    for (const one of this.#acts.keys()) if (first === undefined || one.atMs < first.atMs) first = one;
    return first;
  }

  #arm(): void {
    this.#timer?.cancel();
    const first = this.#first;
    if (first === undefined) return;
    // Node's timers may run a fraction of a millisecond early. Nothing has passed then.
    this.#timer = this.#clock.after(first.atMs - this.#clock.nowMs(), () => {
      this.judge();
      this.#arm();
    });
  }
}
