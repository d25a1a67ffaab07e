import { getHeapStatistics } from 'node:v8';
import type { Clock } from '../core/clock.js';

const PERIOD_MS = 250;
/**
 * The part of V8's limit at which memory counts as full. The rest of the limit is room for short-lived objects. A daemon
 * without a leak uses far less.
 */
const FULL = 0.75;

/** Calls `onFull` before V8 runs out of memory. V8 would end the process without darkening the laser. */
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
