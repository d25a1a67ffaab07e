import type { Clock } from '../core/clock.js';
import type { Unit } from '../core/units.js';
import type { Link } from '../protocol/link.js';
import { REGISTERS } from '../protocol/registers.js';

/** How long a controller keeps torque without a heartbeat. 0 = for ever. */
export interface SilenceLimits {
  /** The longest that a process before this one may have given to the controller. */
  readonly beforeMs: number;
  /** The limit that every heartbeat of this process sends. */
  readonly givenMs: number;
}

interface SilenceOptions {
  readonly link: Link;
  readonly unit: Unit;
  readonly clock: Clock;
  readonly limits: SilenceLimits;
}

/**
 * Proves that an unreachable controller has no torque: no heartbeat has been on the bus for longer than its limit. A
 * failed heartbeat may have been heard, so it counts. So does one that the bus still holds.
 */
export class HostSilence {
  readonly #options: SilenceOptions;
  readonly #startedMs: number;
  /** The longest limit that the controller may have been given since its latch was last seen. 0 = for ever. */
  #longestMs: number;
  /** Whether a heartbeat of this process has arrived. */
  #isGiven = false;

  constructor(options: SilenceOptions) {
    const { beforeMs, givenMs } = options.limits;
    this.#options = options;
    this.#startedMs = options.clock.nowMs();
    this.#longestMs = beforeMs === 0 || givenMs === 0 ? 0 : Math.max(beforeMs, givenMs);
  }

  get givenMs(): number {
    return this.#options.limits.givenMs;
  }

  /** A heartbeat has given the controller the limit of this process. */
  given(): void {
    this.#isGiven = true;
  }

  /**
   * A latched controller has no torque, so earlier limits no longer count. This needs a heartbeat of this process:
   * without one, a resume releases the controller with the limit of an earlier process.
   */
  latchSeen(): void {
    if (this.#isGiven) this.#longestMs = this.givenMs;
  }

  /** Whether the controller must have taken torque off because of host silence. */
  get hasPassed(): boolean {
    if (this.#longestMs === 0) return false;
    const { link, unit, clock } = this.#options;
    const lastMs = link.lastOnBusMs(unit, REGISTERS.heartbeat) ?? this.#startedMs;
    return clock.nowMs() - lastMs > this.#longestMs;
  }
}
