import { isRobotError } from '../../src/core/errors.js';

/** The code with which the act is refused; undefined if it is done. */
export function codeOf(act: () => unknown): string | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    if (isRobotError(error)) return error.code;
    throw error;
  }
}
