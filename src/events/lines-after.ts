import { join } from 'node:path';
import { sha256 } from '../core/sha256.js';
import type { LogHead } from '../schemas/log.js';
import type { Disk } from '../storage/disk.js';
import { NEWLINE, parseLine } from './log-line.js';
import { logFileNames } from './numbered-files.js';

/** The most bytes of an answer. A line is far shorter. */
const MOST_BYTES = 256 << 10;

/**
 * The lines after the line with the hash `after`, up to the line of `head`; without `after`, from the oldest line on. Leaves
 * out lines that the next file does not continue, because they were never synced. Resolves with undefined if there is no line
 * with that hash. The zeros that the first line of all has as its predecessor stand for the beginning of the log: they lead to
 * all lines, and to none if the first line was dropped. Holds no more than a file and an answer in memory.
 */
export async function linesAfter(disk: Disk, folder: string, head: LogHead, after: string | undefined) {
  let found: Buffer = Buffer.alloc(0);
  let last = head.hash;
  let isFound = after === undefined || after === last;
  for (const name of after === last ? [] : logFileNames(await disk.list(folder)).reverse()) {
    const content = (await disk.read(join(folder, name))) ?? Buffer.alloc(0);
    const kept = content.subarray(0, endOf(content, last));
    // A line contains the hash of the line before it, so no more lines have to be hashed.
    const place = after === undefined ? -1 : kept.indexOf(`"prev":"${after}"`);
    const start = place < 0 ? 0 : kept.lastIndexOf(NEWLINE, place) + 1;
    found = firstOf(Buffer.concat([kept.subarray(start), found]));
    isFound ||= place >= 0;
    if (place >= 0) break;
    last = parseLine(kept.toString('utf8', 0, kept.indexOf(NEWLINE)))?.prev ?? last;
  }
  return isFound ? found : undefined;
}

/** The end of the line with this hash; 0 if there is no such line. */
function endOf(content: Buffer, hash: string): number {
  for (let end = content.lastIndexOf(NEWLINE) + 1, start = 0; end > 0; end = start) {
    start = end < 2 ? 0 : content.lastIndexOf(NEWLINE, end - 2) + 1;
    if (sha256(content.subarray(start, end - 1)) === hash) return end;
  }
  return 0;
}

/** A copy, so that it does not keep a whole file in memory. */
function firstOf(lines: Buffer): Buffer {
  if (lines.length <= MOST_BYTES) return lines;
  return Buffer.from(lines.subarray(0, lines.lastIndexOf(NEWLINE, MOST_BYTES - 1) + 1));
}
