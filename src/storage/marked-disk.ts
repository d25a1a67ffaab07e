import { join, resolve } from 'node:path';
import { errnoOf, RobotError } from '../core/errors.js';
import { sha256 } from '../core/sha256.js';
import type { Disk } from './disk.js';
import { replaceFile } from './durable-file.js';

/** What a new disk has, and what commands leave in a folder without a daemon: locks, the trials of the doctor, and tokens. */
const NO_STATE = /^lost\+found$|\.lock$|^\.doctor-|^tokens\.json/;

/**
 * A disk that remembers, by a mark outside the state folder, that the folder was used. While a marked folder is empty or
 * missing, the disk refuses to read or make it, because its files are lost or its disk is not mounted. The mark is written
 * after the first file in the folder. If that fails, `onUnmarked` is called, and an empty folder counts as new.
 */
export function markedDisk(
  disk: Disk,
  { folder, marks, onUnmarked }: { folder: string; marks: string; onUnmarked: (error: unknown) => void },
): Disk {
  const mark = join(marks, sha256(resolve(folder)).slice(0, 16));
  const isMarked = async () => (await disk.size(mark)) > 0;
  const isEmpty = async () => {
    const names = await disk.list(folder).catch(error => {
      if (errnoOf(error.cause) !== 'ENOENT') throw error;
      return [];
    });
    return names.every(name => NO_STATE.test(name));
  };
  let isInUse = false;
  /** Looks at the folder before each operation until the folder is in use. */
  const unlessLost = async <T>(operation: string, path: string, act: () => Promise<T>): Promise<T> => {
    if (!isInUse && (await isMarked()) && (await isEmpty())) {
      const cure = `The state folder was used before, and is empty: mount its disk, or bring back its files. To begin anew, run sudo rm ${mark} and sudo trunnion unlock.`;
      throw new RobotError('storage-failed', { operation, path, errno: 'empty', cure });
    }
    isInUse = true;
    return act();
  };
  let isMarkTried = false;
  const setMark = async () => {
    if (!(await isMarked())) await replaceFile(disk, mark, [Buffer.from(`${resolve(folder)}\n`)]);
  };
  return {
    ...disk,
    makeFolder: path => unlessLost('make', path, () => disk.makeFolder(path)),
    list: path => unlessLost('list', path, () => disk.list(path)),
    read: path => unlessLost('read', path, () => disk.read(path)),
    syncFolder: async path => {
      await disk.syncFolder(path);
      if (isMarkTried) return;
      isMarkTried = true;
      await setMark().catch(onUnmarked);
    },
  };
}
