import type { Clock, Timer } from '../core/clock.js';
import type { NewEvent } from '../schemas/log.js';
import { countRepeats } from './repeats.js';

/** One more line about other acts is allowed for this many lines about successful acts. */
const OTHERS_PER_LINE = 4;
const COUNT_MS = 60_000;

/**
 * Decides which refusals, and which acts of callers without rights, get a line of their own. It keeps them from
 * filling the log. An act that changed nothing gets no line if an equal one had a line within the last minute. If no
 * line is left, acts share one event `unlisted`, at most once a minute. That event counts these acts, and lists the
 * names of those that changed something.
 *
 * `most` lines may come at once.
 */
export function quota(clock: Clock, most: number, add: (event: NewEvent) => void) {
  /** The number of lines that may still be written. */
  let lines = most;
  let unlisted = 0;
  const changes = new Map<string, number>();
  let timer: Timer | undefined;

  /** Writes the event if a line is left. Otherwise counts these requests as unlisted, and returns false. */
  const line = (event: NewEvent, requests: number) => {
    if (lines >= 1 && unlisted === 0) {
      lines -= 1;
      add(event);
      return true;
    }
    unlisted += requests;
    timer ??= clock.after(COUNT_MS, tellLater);
    return false;
  };
  const repeats = countRepeats(clock, (event, count) =>
    line({ ...event, detail: { ...event.detail, repeats: count } }, count),
  );
  const tell = () => {
    const detail = { requests: unlisted, ...Object.fromEntries(changes) };
    lines = Math.max(0, lines - 1);
    unlisted = 0;
    changes.clear();
    add({ what: 'unlisted', detail });
  };
  const tellLater = () => {
    timer = undefined;
    // Changes are always reported. There are few of them, because the robot's own events have lines already.
    if (lines >= 1 || changes.size > 0) tell();
    else timer = clock.after(COUNT_MS, tellLater);
  };
  return {
    /** Call this for each line about a successful act. */
    otherLine: (): void => {
      lines = Math.min(most, lines + 1 / OTHERS_PER_LINE);
    },
    /** `changed` says that the act changed something on the robot. */
    record: (event: NewEvent, changed: boolean): void => {
      const key = keyOf(event);
      if (!changed && repeats.count(key)) return;
      repeats.end(key);
      if (line(event, 1)) repeats.begin(key, event);
      else if (changed) changes.set(event.what, (changes.get(event.what) ?? 0) + 1);
    },
    close: (): void => {
      repeats.close();
      timer?.cancel();
      if (unlisted > 0) tell();
    },
  };
}

/** A key that is the same for equal acts. The detail of a refusal is ignored. */
function keyOf({ what, unit, who, outcome, detail }: NewEvent): string {
  return JSON.stringify([what, unit, who, outcome, outcome === 'done' ? detail : undefined]);
}
