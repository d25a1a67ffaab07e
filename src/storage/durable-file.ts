import { dirname } from 'node:path';
import type { Disk } from './disk.js';
import { refusal, storageFailure } from './storage-failure.js';

/**
 * Puts a whole file, given in parts, in place of an older one, with its folder where there is none. At every instant, a
 * power cut among them, the path shows the old file or the new one; when this resolves, with the number of its bytes, the
 * new one is on the medium. Writers of the same path take turns, for they share the name of the file that is being
 * written. Rejects with `storage-failed`; the path may show the new file all the same.
 */
export async function replaceFile(disk: Disk, path: string, parts: Iterable<Buffer>): Promise<number> {
  const bytes = await putInPlace(disk, path, parts);
  await disk.syncFolder(dirname(path));
  return bytes;
}

/**
 * As `replaceFile`, for a change that is taken back where it cannot be kept. When this rejects, the path shows
 * `before`, unless the error has `mayRemain`, because the disk refused that as well.
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

/** The path shows the new file when this resolves, and after a power cut only once the folder is synced. */
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
