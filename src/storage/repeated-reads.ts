import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Larger files and more files are not read again and again. */
const MOST_BYTES = 4096;
const MOST_FILES = 32;
/** Two changes within this time may leave the same time stamp: FAT counts in steps of 2 s (milliseconds). */
const SETTLED_MS = 3000;

type Read = (path: string) => Promise<Buffer | undefined>;

/**
 * Reads a small file only if it has changed. Files of the state folder are read up to twice a second, because other
 * programs change them, and each read takes four operations of the disk in other threads.
 */
export function repeatedReads(read: Read, wallMs = Date.now): Read {
  const known = new Map<string, { readonly stamp: string; readonly content: Buffer | undefined }>();
  const stampOf = async (path: string, isAbsent: boolean) => {
    // Nobody can make a file without a change of its folder.
    const looked = await stat(isAbsent ? dirname(path) : path, { bigint: true }).catch(() => undefined);
    // The root of a FAT disk has no time stamp.
    if (looked === undefined || looked.ctimeNs === 0n) return undefined;
    if (wallMs() - Number(looked.ctimeMs) < SETTLED_MS) return undefined;
    return [looked.dev, looked.ino, looked.size, looked.mtimeNs, looked.ctimeNs].join(' ');
  };
  return async path => {
    const before = known.get(path);
    const stamp = before && (await stampOf(path, before.content === undefined));
    if (before !== undefined && stamp === before.stamp) return before.content;
    known.delete(path);
    // The stamp is older than the content. So a change during the read is found by the next one.
    const stamps = await Promise.all([stampOf(path, false), stampOf(path, true)]);
    const content = await read(path);
    const found = stamps[content === undefined ? 1 : 0];
    if (found === undefined || (content?.length ?? 0) > MOST_BYTES) return content;
    known.set(path, { stamp: found, content });
    const [oldest = path] = known.keys();
    if (known.size > MOST_FILES) known.delete(oldest);
    return content;
  };
}
