import { UnsettledFrames } from './unsettled-frames.js';
import type { Wanted } from './wanted.js';

/**
 * The next act on the latch. `set` latches. `resume` puts the controller into manual and unlatches it, because a
 * resume could not reach it. `unlatch` only unlatches, because an old frame of the daemon took effect late. `found`
 * stops the whole robot, because the controller latched without being asked.
 */
type LatchStep = 'set' | 'resume' | 'unlatch' | 'found';

/**
 * Decides who caused a latch that a controller shows, and what to do about it. `shown` says whether the controller showed
 * its latch last. It returns undefined before the first contact.
 */
export function latchOf(wanted: () => Wanted, shown: () => boolean | undefined) {
  const frames = new UnsettledFrames();
  /** Whether a release was written since the latch was seen. */
  let releaseWritten = false;
  return {
    frames,

    /** Whether the controller showed its latch and no release has been written since. */
    get holds(): boolean {
      return shown() === true && !releaseWritten;
    },

    get step(): LatchStep | undefined {
      const { isUnderRelease, latch } = wanted();
      const isLatched = shown();
      if (isUnderRelease || isLatched === undefined) return undefined;
      if (latch === 'released') return 'resume';
      if (latch === 'set') return isLatched ? undefined : 'set';
      if (!isLatched) return undefined;
      return frames.unsettled ? 'unlatch' : 'found';
    },

    /** Call this after every status. */
    saw(nowMs: number): void {
      const isLatched = shown() === true;
      const { latch } = wanted();
      frames.explain(latch !== 'released' && isLatched === (latch === 'set'), nowMs);
      if (isLatched && !frames.unsettled) releaseWritten = false;
    },

    /** Runs `write`, which may put a release on the bus until it settles. */
    writeRelease(write: (unsettled: boolean) => Promise<unknown>): Promise<void> {
      releaseWritten = true;
      return frames.during(write);
    },
  };
}
