import { dirname } from 'node:path';
import type { Disk } from './disk.js';

/**
 * Puts a whole file, given in parts, in place of an older one, with its folder where there is none. At every instant, a
 * power cut among them, the path shows the old file or the new one; when this resolves, with the number of its bytes, the
 * new one is on the medium. Writers of the same path take turns, for they share the name of the file that is being
 * written. Rejects with `storage-failed`.
 */
export async function replaceFile(disk: Disk, path: string, parts: Iterable<Buffer>): Promise<number> {
  const folder = dirname(path);
  const unfinished = `${path}.new`;
  await disk.makeFolder(folder);
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
  await disk.syncFolder(folder);
  return bytes;
}
