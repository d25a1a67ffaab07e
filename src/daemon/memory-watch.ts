import { getHeapStatistics } from 'node:v8';
import type { Clock } from '../core/clock.js';

const PERIOD_MS = 250;
/**
 * The part of V8's limit at which memory counts as full. The limit includes room for young objects that lasting ones
 * never get. A daemon uses a small part of the rest, so where more is used, something leaks.
 */
const FULL = 0.75;

/** Calls `onFull` shortly before V8 ends the process for want of memory, which would leave no chance to darken the laser. */
export function watchMemory(clock: Clock, onFull: (error: Error) => void): void {
  clock.after(PERIOD_MS, () => {
    const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
    if (used < FULL * limit) watchMemory(clock, onFull);
    else onFull(new Error(`out of memory: ${inMiB(used)} of ${inMiB(limit)} MiB are used`));
  });
}

function inMiB(bytes: number): number {
  return Math.round(bytes / 2 ** 20);
}
