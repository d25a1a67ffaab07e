import { dirname } from 'node:path';
import { sha256 } from '../core/sha256.js';
import { type Disk, refusal, storageFailure } from './disk.js';

/**
 * Replaces a whole file, and makes its folder if there is none. At any time, also after a power cut, the path leads
 * to the old file or to the new one. Resolves with the size when the new file is synced. Rejects with
 * `storage-failed`; the path may then already lead to the new file. Do not call this twice at once for one path.
 */
export async function replaceFile(disk: Disk, path: string, parts: Iterable<Buffer>): Promise<number> {
  const bytes = await putInPlace(disk, path, parts);
  await disk.syncFolder(dirname(path));
  return bytes;
}

/**
 * As `replaceFile`, but puts `before` back on a failure. If that fails too, the error has `mayRemain`.
 */
export async function changeFile(
  disk: Disk,
  path: string,
  { before, after }: { readonly before: Buffer; readonly after: Buffer },
): Promise<void> {
  await putInPlace(disk, path, [after]);
  try {
    await disk.syncFolder(dirname(path));
  } catch (error) {
    await replaceFile(disk, path, [before]).catch(() => {
      throw refusal(storageFailure(error), true);
    });
    throw error;
  }
}

/** Resolves when the path leads to the new file. After a power cut this holds only if the folder was synced. */
export async function putInPlace(disk: Disk, path: string, parts: Iterable<Buffer>): Promise<number> {
  const unfinished = `${path}.new`;
  await disk.makeFolder(dirname(path));
  let bytes = 0;
  const file = await disk.create(unfinished);
  try {
    for (const part of parts) {
      await file.append(part);
      bytes += part.length;
    }
    await file.sync();
  } finally {
    await file.close();
  }
  await disk.rename(unfinished, path);
  return bytes;
}

/** The part between a file's name and the hash in the name of its copy. */
export const DAMAGED = '.damaged-';

/**
 * The path of the copy of a damaged file. The path depends on the content: equal content is copied once, and
 * other content does not overwrite the copy.
 */
export function damagedCopy(path: string, content: Buffer): string {
  return path + DAMAGED + sha256(content).slice(0, 16);
}
