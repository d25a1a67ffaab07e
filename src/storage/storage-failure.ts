import { isRobotError, RobotError } from '../core/errors.js';

export type StorageFailure = RobotError<'storage-failed'>;

/** `error` as a failure of the storage. Any other error than that is a defect of ours. */
export function storageFailure(error: unknown): StorageFailure {
  if (isRobotError(error, 'storage-failed')) return error;
  return new RobotError('storage-failed', { operation: 'use', path: 'the state folder' }, { cause: error });
}

/** The same failure as the answer to an act that it refused. `mayRemain` says whether a restart may find the act done. */
export function refusal({ context, cause }: StorageFailure, mayRemain: boolean): StorageFailure {
  return new RobotError('storage-failed', { ...context, mayRemain }, { cause });
}

/** The failure of a disk that was not waited for any longer: it may yet do what was asked of it. */
export function tooSlow(operation: 'open' | 'read' | 'sync' | 'write', path: string): StorageFailure {
  const cure = 'The disk is too slow: check it.';
  return new RobotError('storage-failed', { operation, path, errno: 'slow', cure });
}
