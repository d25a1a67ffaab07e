import { type Clock, every } from '../core/clock.js';
import { MAX_HOLD_MS } from '../core/units.js';

const LOOK_MS = 25;
/** The requests that the kernel kept during a pause arrive within this time after it. */
const ARRIVES_MS = 100;

/**
 * Notices when the whole process was paused for longer than any drive command holds. `justEnded` is true until the requests
 * of that pause have arrived.
 */
export function noticePauses(clock: Clock) {
  let lookedMs = clock.nowMs();
  let endedMs = Number.NEGATIVE_INFINITY;
  const justEnded = (): boolean => {
    const nowMs = clock.nowMs();
    if (nowMs - lookedMs > MAX_HOLD_MS) endedMs = nowMs;
    lookedMs = nowMs;
    return nowMs - endedMs < ARRIVES_MS;
  };
  return { justEnded, end: every(clock, LOOK_MS, justEnded) };
}
