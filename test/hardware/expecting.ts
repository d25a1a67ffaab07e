import { type ErrorCode, isRobotError, type RobotError } from '../../src/core/errors.js';
import type { ManualClock } from '../support/manual-clock.js';

/** Resolves with the RobotError with which `act` fails, which must have one of these codes if there are any. */
export async function failureOf<Code extends ErrorCode = ErrorCode>(
  promise: Promise<unknown>,
  ...codes: readonly Code[]
): Promise<RobotError<Code>> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (isRobotError(error, ...codes)) return error;
  throw new Error(`not a RobotError ${codes}: ${error}`);
}

/** Lets time pass until it holds; files are real, and need some of the machine's own. */
export async function until(clock: ManualClock, holds: () => boolean): Promise<void> {
  while (!holds()) await clock.advance(20);
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
