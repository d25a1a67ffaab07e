import type { Clock, Timer } from '../core/clock.js';
import type { NewEvent } from '../schemas/log.js';

const SUMMARY_MS = 60_000;

interface Open {
  readonly first: NewEvent;
  count: number;
  readonly end: Timer;
}

/**
 * Counts events that repeat under the same key. Once a minute, reports the first event and the number of its
 * repeats.
 */
export function countRepeats(clock: Clock, summarise: (first: NewEvent, repeats: number) => void) {
  const open = new Map<string, Open>();

  /** Reports the repeats of this key and forgets the key. */
  const end = (key: string) => {
    const { first, count = 0, end: timer } = open.get(key) ?? {};
    timer?.cancel();
    open.delete(key);
    if (first !== undefined && count > 0) summarise(first, count);
  };
  return {
    end,
    /** Counts a repeat if the key is known. Returns whether it is known. */
    count: (key: string): boolean => {
      const known = open.get(key);
      if (known !== undefined) known.count += 1;
      return known !== undefined;
    },
    /** Starts to count repeats of this key. */
    begin: (key: string, first: NewEvent): void => {
      open.set(key, { first, count: 0, end: clock.after(SUMMARY_MS, () => end(key)) });
    },
    close: (): void => [...open.keys()].forEach(end),
  };
}
