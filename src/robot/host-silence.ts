import type { Clock } from '../core/clock.js';
import type { Unit } from '../core/units.js';
import type { Link } from '../protocol/link.js';
import { REGISTERS } from '../protocol/registers.js';

/** How long a controller keeps torque without a heartbeat. */
export interface SilenceLimits {
  /** The longest host silence that an earlier process may have given to the controller. Infinity = for ever. */
  readonly beforeMs: number;
  /** The host silence that this process sends with every heartbeat. 0 = for ever. */
  readonly givenMs: number;
}

export type HostSilence = ReturnType<typeof hostSilence>;

/**
 * Proves that an unreachable controller has no torque, because no heartbeat has been on the bus for longer than its
 * host silence. A failed heartbeat may have been received, so it counts. A heartbeat that is still on the bus counts
 * too.
 */
export function hostSilence(link: Link, unit: Unit, clock: Clock, { beforeMs, givenMs }: SilenceLimits) {
  const startedMs = clock.nowMs();
  const limitMs = givenMs === 0 ? Number.POSITIVE_INFINITY : givenMs;
  /** The longest host silence that the controller may have been given since its latch was last seen. */
  let longestMs = Math.max(beforeMs, limitMs);
  /** Whether a heartbeat of this process has arrived. */
  let isGiven = false;
  return {
    givenMs,
    /** Call this when a heartbeat has given the controller this process's host silence. */
    given: () => {
      isGiven = true;
    },
    /**
     * A latched controller has no torque, so earlier host silences no longer count. This holds only after a heartbeat
     * of this process: without one, a resume would release the controller with the host silence of an earlier process.
     */
    latchSeen: () => {
      if (isGiven) longestMs = limitMs;
    },
    /** Whether host silence has certainly taken the controller's torque off. */
    get hasPassed(): boolean {
      const lastMs = link.lastOnBusMs(unit, REGISTERS.heartbeat) ?? startedMs;
      return clock.nowMs() - lastMs > longestMs;
    },
  };
}
