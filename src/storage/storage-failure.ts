import { isRobotError, RobotError } from '../core/errors.js';

export type StorageFailure = RobotError<'storage-failed'>;

/** `error` as a failure of the storage; `tried` is what was being done where the error does not say it. */
export function storageFailure(
  error: unknown,
  tried: { readonly operation: string; readonly path: string },
): StorageFailure {
  return isRobotError(error, 'storage-failed')
    ? error
    : new RobotError('storage-failed', tried, { cause: error });
}

/** The failure of a disk that was not waited for any longer: it may yet do what was asked of it. */
export function tooSlow(operation: 'open' | 'read' | 'sync' | 'write', path: string): StorageFailure {
  const cure = 'The disk is too slow: check it.';
  return new RobotError('storage-failed', { operation, path, errno: 'slow', cure });
}
