import type { Clock } from '../core/clock.js';
import type { Link } from '../protocol/link.js';
import { REGISTERS } from '../protocol/registers.js';

/** How long a controller bears to hear no heartbeat before it takes torque off. 0 = for ever. */
export interface SilenceLimits {
  /** The longest that a process before this one may have given to the controller. */
  readonly beforeMs: number;
  /** What every heartbeat of this process gives. */
  readonly givenMs: number;
}

/**
 * Proves that a controller which nobody can reach has no torque: no heartbeat has been on the bus for longer than the
 * controller bears. A heartbeat that failed may have been heard, so it counts; so does one that the bus still holds.
 */
export class HostSilence {
  readonly givenMs: number;
  readonly #link: Link;
  readonly #address: number;
  readonly #clock: Clock;
  readonly #startedMs: number;
  /** The longest that it may have been given since its latch was last seen. */
  #longestMs: number;

  constructor(options: { link: Link; address: number; clock: Clock; limits: SilenceLimits }) {
    const { beforeMs, givenMs } = options.limits;
    this.#link = options.link;
    this.#address = options.address;
    this.#clock = options.clock;
    this.#startedMs = options.clock.nowMs();
    this.givenMs = givenMs;
    this.#longestMs = beforeMs === 0 || givenMs === 0 ? 0 : Math.max(beforeMs, givenMs);
  }

  /** What was given before does not matter to a controller that shows its latch. */
  latchSeen(): void {
    this.#longestMs = this.givenMs;
  }

  /** Whether the controller must have taken torque off by itself. */
  get hasPassed(): boolean {
    if (this.#longestMs === 0) return false;
    const lastMs = this.#link.lastOnBusMs(this.#address, REGISTERS.heartbeat) ?? this.#startedMs;
    return this.#clock.nowMs() - lastMs > this.#longestMs;
  }
}
