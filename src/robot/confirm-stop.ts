import { type Clock, endedWithin, pause } from '../core/clock.js';
import { RobotError } from '../core/errors.js';
import type { HostSilence } from './host-silence.js';
import type { Reconciler } from './reconciler.js';
import type { UnitState } from './unit-state.js';

/** The longest attempt to latch while a stop waits, and the pause before the next attempt. */
const LATCH_MS = 200;
const LATCH_AGAIN_MS = 10;

/**
 * Returns a function that resolves when the controller has confirmed its latch, or when it must have cut its torque for
 * lack of heartbeats. Does not wait for the unit's turn. Rejects at `untilMs`.
 */
export function stopConfirmation(
  clock: Clock,
  silence: HostSilence,
  state: UnitState,
  reconciler: Reconciler,
) {
  /** The newest attempt to latch that a stop started, and the attempt after it. */
  let attempt: Promise<void> = Promise.resolve();
  let nextAttempt: Promise<void> | undefined;
  /**
   * Latches now, or when the attempt under way has ended. All stops that wait share one attempt: otherwise callers who
   * stop without a pause would leave no bus time for heartbeats and polls.
   */
  const latchTogether = (untilMs: number): Promise<void> => {
    const start = () => {
      nextAttempt = undefined;
      attempt = reconciler.latch(Math.min(untilMs, clock.nowMs() + LATCH_MS));
      return attempt;
    };
    nextAttempt ??= attempt.then(start, start);
    return nextAttempt;
  };

  return async (untilMs: number): Promise<void> => {
    let cause: unknown;
    // A latch that was seen before counts only while the controller is offline. An online controller must confirm it
    // again.
    while (!silence.hasPassed && (state.observed.online || !state.latch.holds)) {
      const nowMs = clock.nowMs();
      if (nowMs >= untilMs)
        throw new RobotError('not-confirmed', { unit: state.unit.name, register: 'stop' }, { cause });
      try {
        // Nothing is written to an address that never answered as the right controller.
        if (state.observed.identity !== undefined) {
          const latched = latchTogether(untilMs);
          if (await endedWithin(clock, untilMs - nowMs, latched)) return await latched;
        }
      } catch (error) {
        cause = error;
      }
      await pause(clock, LATCH_AGAIN_MS);
    }
  };
}
