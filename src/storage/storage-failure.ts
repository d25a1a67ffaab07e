import { isRobotError, RobotError } from '../core/errors.js';

export type StorageFailure = RobotError<'storage-failed'>;

/** `error` as a storage failure. Any other error is a defect of this program. */
export function storageFailure(error: unknown): StorageFailure {
  if (isRobotError(error, 'storage-failed')) return error;
  return new RobotError('storage-failed', { operation: 'use', path: 'the state folder' }, { cause: error });
}

/** The same failure, as the refusal of a change. `mayRemain`: a restart may find the change done. */
export function refusal({ context, cause }: StorageFailure, mayRemain: boolean): StorageFailure {
  return new RobotError('storage-failed', { ...context, mayRemain }, { cause });
}

/** A timeout of the disk. The disk may still complete the operation. */
export function tooSlow(operation: 'open' | 'read' | 'sync' | 'write', path: string): StorageFailure {
  const cure = 'The disk is too slow: check it.';
  return new RobotError('storage-failed', { operation, path, errno: 'slow', cure });
}
