import { BrokenPromise } from './broken-promise.js';
import type { History } from './history.js';
import { World } from './world.js';

export interface WalkEnd {
  /** The promise that the history broke. */
  readonly broken: BrokenPromise | undefined;
  /** Simulated time. */
  readonly robotMs: number;
  /** The longest time from the end of the last fault until all units were consistent. */
  readonly slowestSettleMs: number;
}

export async function walk({ settings, steps }: History): Promise<WalkEnd> {
  const world = new World(settings);
  let broken: BrokenPromise | undefined;
  process.on('unhandledRejection', world.guard.keep);
  try {
    await world.start();
    await world.clock.advance(400);
    for (const step of steps) await world.take(step);
  } catch (error) {
    if (error instanceof BrokenPromise) broken = error;
    else {
      const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
      broken = new BrokenPromise('no defect', detail);
    }
  }
  world.close();
  process.off('unhandledRejection', world.guard.keep);
  return { broken, robotMs: world.clock.nowMs(), slowestSettleMs: world.slowestSettleMs };
}
