import { isRobotError } from '../../src/core/errors.js';

/** The code with which the act is refused. Undefined if it succeeds. */
export function codeOf(act: () => unknown): string | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    if (isRobotError(error)) return error.code;
    throw error;
  }
}
