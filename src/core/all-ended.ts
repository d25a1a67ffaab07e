import { isRobotError } from './errors.js';

/** Waits until all acts have resolved or rejected. Rejects with the first error, and the others beside it. */
export async function allEnded(acts: readonly (Promise<unknown> | undefined)[]): Promise<void> {
  const ends = await Promise.allSettled(acts);
  const errors: unknown[] = ends.flatMap(end => (end.status === 'rejected' ? [end.reason] : []));
  const [first, ...others] = errors;
  if (first === undefined) return;
  throw isRobotError(first) ? first.beside(others.filter(other => isRobotError(other))) : first;
}
