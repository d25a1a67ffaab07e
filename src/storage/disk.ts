import { constants } from 'node:fs';
import { access, type FileHandle, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { errnoOf, isRobotError, RobotError } from '../core/errors.js';
import { repeatedReads } from './repeated-reads.js';

/** The longest wait for one file at a start. */
export const START_MS = 2000;

/** Names the user by number, because the user may have no name here. */
const NOT_OURS = `The state folder is not the daemon's: mount its disk, or give the folder back with sudo chown -R ${process.getuid?.()} and its path.`;
const CURES: Readonly<Record<string, string>> = {
  ENOSPC: 'The disk is full: free some space.',
  EDQUOT: 'The disk quota is used up: free some space.',
  // The service's sandbox shows everything except its own folder as read-only.
  EROFS:
    'The disk is read-only: check it and mount it writable. A state.folder of your own has to be in the ReadWritePaths= of the service.',
  EACCES: NOT_OURS,
  EPERM: NOT_OURS,
  ENOENT: 'The state folder is not there: mount its disk.',
  ENOLINK: 'A link in the state folder leads nowhere: mount its disk.',
  EIO: 'The disk is failing: replace it, and keep a copy of the state folder.',
};

const EMPTY = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_APPEND;

/** Runs `act` and turns its failure into `storage-failed`. */
export async function attempt<T>(operation: string, path: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    const errno = errnoOf(error) ?? 'unknown';
    const cure = CURES[errno] ?? 'Check the disk and the state folder.';
    throw new RobotError('storage-failed', { operation, path, errno, cure }, { cause: error });
  }
}

/** A file open for appending. */
export type DiskFile = ReturnType<typeof diskFile>;

function diskFile(path: string, file: FileHandle, size = 0) {
  let leastBytes = size;
  return {
    /** Appends all of the data, or rejects. `FileHandle.writeFile` appends, and completes short writes. */
    append: (data: Buffer) =>
      attempt('write', path, async () => {
        await file.writeFile(data);
        leastBytes += data.length;
      }),
    /** Everything appended is on the medium when this resolves. */
    sync: () => attempt('sync', path, () => file.datasync()),
    /** False if the file was moved, replaced, deleted or made shorter. Data written to it is then lost. */
    isInPlace: () => attempt('look at', path, () => leadsTo(path, file, leastBytes)),
    close: () => attempt('close', path, () => file.close()),
  };
}

/** The file operations of the state folder. Every failure is a RobotError `storage-failed`. */
export type Disk = typeof realDisk;

const readAgain = repeatedReads(path => readFile(path).catch(error => unlessListed(path, error)));

/**
 * Makes the folder and those around it. Resolves with the folders that were not there. Node's recursive mkdir would try for
 * ever in a folder such as /proc, which is there and says that it is not.
 */
async function madeFolders(folder: string, isAgain = false): Promise<readonly string[]> {
  try {
    await mkdir(folder, { mode: 0o750 });
    return [folder];
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'EEXIST' && (await stat(folder)).isDirectory()) return [];
    if (errno !== 'ENOENT' || isAgain || dirname(folder) === folder) throw error;
    return [...(await madeFolders(dirname(folder))), ...(await madeFolders(folder, true))];
  }
}

export const realDisk = {
  makeFolder: (asked: string) =>
    attempt('make', asked, async () => {
      const folder = resolve(asked);
      for (const made of await madeFolders(folder)) await syncFolder(dirname(made));
    }),
  list: (folder: string): Promise<readonly string[]> => attempt('list', folder, () => readdir(folder)),
  /**
   * Resolves with undefined if the folder has no such file. Rejects if the folder is missing, or if the file
   * is missing and the daemon may not write to the folder (its disk may not be mounted).
   */
  read: (path: string): Promise<Buffer | undefined> => attempt('read', path, () => readAgain(path)),
  /** Rejects if there is no such file. The flag 'a' would create it. */
  openToAppend: (path: string): Promise<DiskFile> =>
    attempt('open', path, async () => {
      const { size } = await stat(path);
      return diskFile(path, await open(path, constants.O_WRONLY | constants.O_APPEND), size);
    }),
  /** Creates an empty file, or empties an existing one. */
  create: (path: string): Promise<DiskFile> =>
    attempt('create', path, async () => {
      // With O_APPEND, a file that somebody empties gets no hole before the next data.
      const file = await open(path, EMPTY, 0o640);
      await giveToOwnerOfFolder(file, path);
      return diskFile(path, file);
    }),
  rename: (from: string, to: string) => attempt('rename', to, () => rename(from, to)),
  /** Resolves also if there is no such file. */
  remove: (path: string) => attempt('remove', path, () => rm(path, { force: true })),
  /** Resolves with the number of bytes; 0 if there is no such file. */
  size: (path: string) =>
    attempt('look at', path, async () => (await stat(path).catch(unlessMissing))?.size ?? 0),
  /** Syncs the folder, so that created and renamed names survive a power cut. */
  syncFolder: (folder: string) => attempt('sync', folder, () => syncFolder(folder)),
};

/** Whether the path leads to this file. False if it was moved, replaced or deleted, or if it is shorter than `leastBytes`. */
export async function leadsTo(path: string, file: FileHandle, leastBytes = 0): Promise<boolean> {
  // Both calls run at once. One after the other, they would cost a save one more turn of a busy event loop.
  const [open, found] = await Promise.all([
    file.stat({ bigint: true }),
    stat(path, { bigint: true }).catch(unlessMissing),
  ]);
  return open.dev === found?.dev && open.ino === found.ino && open.size >= leastBytes;
}

/**
 * Resolves if the file is certainly missing: the folder can be listed, lacks the file, and is writable or on
 * a read-only disk. Otherwise throws, because a disk may not be mounted: its mount point is an empty folder
 * of root.
 */
async function unlessListed(path: string, error: unknown): Promise<undefined> {
  if (errnoOf(error) !== 'ENOENT') throw error;
  const folder = dirname(path);
  await access(folder, constants.W_OK).catch(refused => {
    if (errnoOf(refused) !== 'EROFS') throw refused;
  });
  if (!(await readdir(folder)).includes(basename(path))) return;
  throw Object.assign(new Error('the link leads nowhere', { cause: error }), { code: 'ENOLINK' });
}

function unlessMissing(error: unknown): undefined {
  if (errnoOf(error) !== 'ENOENT') throw error;
}

/** The service could not write a file that root's daemon has left in the service's folder. */
async function giveToOwnerOfFolder(file: FileHandle, path: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = await stat(dirname(path));
  await file.chown(uid, gid);
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
}

export type StorageFailure = RobotError<'storage-failed'>;

/**
 * Returns a storage failure unchanged. Any other error is a defect of this program, and becomes the cause of
 * a storage failure.
 */
export function storageFailure(error: unknown): StorageFailure {
  if (isRobotError(error, 'storage-failed')) return error;
  return new RobotError('storage-failed', { operation: 'use', path: 'the state folder' }, { cause: error });
}

/**
 * Makes the failure of a refused change from this one. `mayRemain`: the change may be found after a restart.
 */
export function refusal({ context, cause }: StorageFailure, mayRemain: boolean): StorageFailure {
  return new RobotError('storage-failed', { ...context, mayRemain }, { cause });
}

/** A timeout of the disk. The disk may still complete the operation. */
export function tooSlow(operation: 'open' | 'read' | 'sync' | 'write', path: string): StorageFailure {
  const cure = 'The disk is too slow: check it.';
  return new RobotError('storage-failed', { operation, path, errno: 'slow', cure });
}
