import { BrokenPromise } from './broken-promise.js';
import type { History } from './history.js';
import { World } from './world.js';

export interface Figures {
  /** Simulated time. */
  readonly robotMs: number;
  /** The longest time from the end of the last fault until all units were consistent. */
  readonly slowestSettleMs: number;
}

/** Resolves with the promise that a history broke, or with undefined if it broke none. */
export async function walk(
  { settings, steps }: History,
  measured: (figures: Figures) => void = () => undefined,
): Promise<BrokenPromise | undefined> {
  const world = new World(settings);
  process.on('unhandledRejection', world.guard.keep);
  try {
    await world.start();
    await world.clock.advance(400);
    for (const step of steps) await world.take(step);
    return undefined;
  } catch (error) {
    if (error instanceof BrokenPromise) return error;
    return new BrokenPromise(
      'no defect',
      error instanceof Error ? (error.stack ?? error.message) : String(error),
    );
  } finally {
    world.close();
    measured({ robotMs: world.clock.nowMs(), slowestSettleMs: world.slowestSettleMs });
    process.off('unhandledRejection', world.guard.keep);
  }
}
