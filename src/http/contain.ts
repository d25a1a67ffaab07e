import type { Logger } from 'pino';
import { describeError } from '../core/errors.js';

type Callback<Args extends readonly unknown[]> = (...args: Args) => unknown;
export type Contain = ReturnType<typeof containment>;

/**
 * Returns the function that wraps every listener, timer and stream callback of the HTTP room. If a callback throws or
 * rejects, the function logs that defect and calls `end`. Otherwise the bytes of one caller could end the process.
 */
export function containment(log: Logger) {
  return <Args extends readonly unknown[]>(act: Callback<Args>, end?: Callback<Args>) =>
    (...args: Args): void => {
      const failed = (error: unknown) => {
        log.error(describeError(error), 'callback failed');
        end?.(...args);
      };
      try {
        const result = act(...args);
        if (result instanceof Promise) result.catch(failed);
      } catch (error) {
        failed(error);
      }
    };
}
