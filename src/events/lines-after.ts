import { join } from 'node:path';
import { sha256 } from '../core/sha256.js';
import type { LogHead } from '../schemas/log.js';
import type { Disk } from '../storage/disk.js';
import { parseLine, wholeLines } from './log-line.js';
import { logFileNames } from './numbered-files.js';

/** The most bytes of an answer. A line is far shorter. */
const MOST_BYTES = 256 << 10;
const NEWLINE = Buffer.from('\n');

/**
 * The lines after the line with the hash `after`, up to the line of `head`; without `after`, from the oldest line on. Leaves
 * out lines that the next file does not continue, because they were never synced. Resolves with undefined if there is no line
 * with that hash. The zeros that the first line of all has as its predecessor stand for the beginning of the log: they lead to
 * all lines, and to none if the first line was dropped.
 */
export async function linesAfter(disk: Disk, folder: string, head: LogHead, after: string | undefined) {
  let found: readonly Buffer[] = [];
  let last = head.hash;
  let isFound = after === undefined || after === last;
  for (const name of after === last ? [] : logFileNames(await disk.list(folder)).reverse()) {
    const all = wholeLines((await disk.read(join(folder, name))) ?? Buffer.alloc(0));
    const kept = all.slice(0, all.findLastIndex(line => sha256(line) === last) + 1);
    // A line contains the hash of the line before it, so no more lines have to be hashed.
    const first = kept.findLastIndex(line => after !== undefined && line.includes(`"prev":"${after}"`));
    found = firstOf([...kept.slice(Math.max(0, first)), ...found]);
    isFound ||= first >= 0;
    if (first >= 0) break;
    last = parseLine(String(kept[0] ?? ''))?.prev ?? last;
  }
  return isFound ? Buffer.concat(found.flatMap(line => [line, NEWLINE])) : undefined;
}

function firstOf(lines: readonly Buffer[]): readonly Buffer[] {
  let bytes = 0;
  const end = lines.findIndex(line => {
    bytes += line.length + 1;
    return bytes > MOST_BYTES;
  });
  return end < 0 ? lines : lines.slice(0, end);
}
