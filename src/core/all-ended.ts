import { isRobotError } from './errors.js';

/**
 * Waits until all acts have ended, so that nothing of them comes later. Rejects with the error of the first that
 * failed, and the others beside it.
 */
export async function allEnded(acts: readonly (Promise<unknown> | undefined)[]): Promise<void> {
  const ends = await Promise.allSettled(acts);
  const errors: unknown[] = ends.flatMap(end => (end.status === 'rejected' ? [end.reason] : []));
  const [first, ...others] = errors;
  if (first === undefined) return;
  throw isRobotError(first) ? first.beside(others.filter(other => isRobotError(other))) : first;
}
