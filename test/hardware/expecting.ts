import { RobotError } from '../../src/core/errors.js';
import type { ManualClock } from '../support/manual-clock.js';

/** What it fails with; anything but a RobotError is an error. */
export async function failureOf(promise: Promise<unknown>): Promise<RobotError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof RobotError) return error;
  throw new Error(`not a RobotError: ${error}`);
}

/** Lets time pass until it holds; files are real, and need some of the machine's own. */
export async function until(clock: ManualClock, holds: () => boolean): Promise<void> {
  for (const startedMs = performance.now(); !holds(); await clock.advance(20)) {
    if (performance.now() - startedMs > 5000) throw new Error('it never holds');
  }
}

/** Lets time pass until it settles. */
export async function passing<T>(clock: ManualClock, promise: Promise<T>): Promise<T> {
  let settled = false;
  const settle = () => {
    settled = true;
  };
  promise.then(settle, settle);
  await until(clock, () => settled);
  return promise;
}
