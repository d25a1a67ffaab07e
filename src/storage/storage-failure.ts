import { isRobotError, RobotError } from '../core/errors.js';

export type StorageFailure = RobotError<'storage-failed'>;

/** What kept the storage from working, as its failure. */
export function storageFailure(error: unknown): StorageFailure {
  return isRobotError(error, 'storage-failed')
    ? error
    : new RobotError('storage-failed', {}, { cause: error });
}

/** The failure of a disk that was not waited for any longer: it may yet do what was asked of it. */
export function tooSlow(operation: 'open' | 'read' | 'sync' | 'write', path: string): StorageFailure {
  const cure = 'The disk is too slow: check it.';
  return new RobotError('storage-failed', { operation, path, errno: 'slow', cure });
}
