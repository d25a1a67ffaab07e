import { type ErrorCode, isRobotError, type RobotError } from '../../src/core/errors.js';
import type { ManualClock } from '../support/manual-clock.js';

/** Resolves with the RobotError with which `act` fails. If codes are given, the error must have one of them. */
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

/** Lets simulated time pass until the condition holds. Operations on real files also take real time. */
export async function until(clock: ManualClock, holds: () => boolean): Promise<void> {
  while (!holds()) await clock.advance(20);
}

/** Lets simulated time pass until the promise settles. */
export async function passing<T>(clock: ManualClock, promise: Promise<T>): Promise<T> {
  let settled = false;
  const settle = () => {
    settled = true;
  };
  promise.then(settle, settle);
  await until(clock, () => settled);
  return promise;
}
