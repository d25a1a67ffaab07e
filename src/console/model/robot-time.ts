import type { Clock } from '../../core/clock.js';

/** Readings of one run of the robot differ by less than this from each other. */
const RUN_MS = 2000;

/** What the page knows of the robot's clock, from the readings that it gets. Times are Clock milliseconds of the page. */
export class RobotTime {
  readonly #clock: Clock;
  #heardMs = Number.NEGATIVE_INFINITY;
  /** The robot's time minus the page's. It comes from the quickest reading, so it is not too large. */
  #aheadMs = Number.NaN;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** When the last reading came. */
  get heardMs(): number {
    return this.#heardMs;
  }

  /** Call this for each reading. `t` is the robot's time in seconds. */
  heard(t: number): void {
    const nowMs = this.#clock.nowMs();
    const aheadMs = 1000 * t - nowMs;
    const isAnotherRun = !(Math.abs(aheadMs - this.#aheadMs) < RUN_MS);
    // Forgets 1 ms in a second, because two clocks drift apart.
    const oldMs = this.#aheadMs - (nowMs - this.#heardMs) / 1000;
    this.#aheadMs = isAnotherRun ? aheadMs : Math.max(aheadMs, oldMs);
    this.#heardMs = nowMs;
  }

  /** The robot's time in seconds. Undefined before the first reading. */
  tAt(ms: number): number | undefined {
    return Number.isFinite(this.#aheadMs) ? (ms + this.#aheadMs) / 1000 : undefined;
  }

  /** The page's time at the robot's time `t`. NaN before the first reading. */
  msAt(t: number): number {
    return 1000 * t - this.#aheadMs;
  }
}
