import { sha256 } from '../core/sha256.js';

/** The part between a file's name and the hash in the name of its copy. */
export const DAMAGED = '.damaged-';

/**
 * The path of the copy of a damaged file. The path depends on the content: equal damage is kept once, and other damage
 * does not overwrite it.
 */
export function damagedCopy(path: string, content: Buffer): string {
  return path + DAMAGED + sha256(content).slice(0, 16);
}
