import { sha256 } from '../core/sha256.js';

/** What follows the file's name in that of its copy, before the hash. */
export const DAMAGED = '.damaged-';

/** Where the copy of a damaged file goes. By content: another damage leaves it alone, and the same one is kept once. */
export function damagedCopy(path: string, content: Buffer): string {
  return path + DAMAGED + sha256(content).slice(0, 16);
}
