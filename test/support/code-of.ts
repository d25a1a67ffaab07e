import { isRobotError } from '../../src/core/errors.js';

/** The code with which the act is refused. Undefined if it succeeds. */
export function codeOf(act: () => unknown): string | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    return codeOfRefusal(error);
  }
}

/** The code of a refusal. Throws any other error again. */
export function codeOfRefusal(error: unknown): string {
  if (isRobotError(error)) return error.code;
  throw error;
}

/** `done`, or the code with which the act is refused. */
export function outcomeOf(act: Promise<unknown>): Promise<unknown> {
  return act.then(
    () => 'done',
    error => (isRobotError(error) ? error.code : error),
  );
}
