import { sha256 } from '../core/sha256.js';
import type { Disk } from './disk.js';
import { replaceFile } from './durable-file.js';

/** The part between a file's name and the hash in the name of its copy. */
export const DAMAGED = '.damaged-';

/**
 * The path of the copy of a damaged file. It depends on the content, so that another damage leaves this copy alone and
 * the same one is kept once.
 */
export function damagedCopy(path: string, content: Buffer): string {
  return path + DAMAGED + sha256(content).slice(0, 16);
}

/** Keeps a copy of a damaged file. Resolves with the copy's path. */
export async function keepCopy(disk: Disk, path: string, content: Buffer): Promise<string> {
  const copy = damagedCopy(path, content);
  await replaceFile(disk, copy, [content]);
  return copy;
}

/** Moves a damaged file out of the way. Resolves with its new path. */
export async function moveAside(disk: Disk, path: string, content: Buffer): Promise<string> {
  const copy = damagedCopy(path, content);
  await disk.rename(path, copy);
  return copy;
}
