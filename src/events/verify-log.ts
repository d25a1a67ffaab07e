import { sha256 } from '../core/sha256.js';
import type { LogHead } from '../schemas/log.js';
import { type LogLine, NOTHING_BEFORE, parseLine, wholeLines } from './log-line.js';

export interface LogFile {
  readonly name: string;
  readonly content: Buffer;
}

/** A line with its place and its hash. `file` and `index` count from 0. */
interface Place {
  readonly file: number;
  readonly index: number;
  readonly line: LogLine;
  readonly hash: string;
}

const NEWER = 'A newer version of Trunnion wrote it: verify the log with that one.';
const BROKEN =
  'It does not follow the line before: one of them was changed, or lines are missing or duplicated.';
const BROKEN_SEAM =
  'It follows no line of the files before: the end of one of them, or a whole file, is missing or was changed.';

/**
 * Checks that the files, oldest first, form one chain of unchanged lines, and that the chain contains the given head.
 * Two traces of power cuts and failing disks are not faults:
 * - a torn last line of any file,
 * - whole lines at the end of a file that the next file does not continue. The log never reported these lines as written.
 * If version 0.2.0 ran in between, it wrote into the oldest files. Its lines are not confirmed either.
 *
 * Returns the lines of the chain, oldest first, notes, and whether no first lines are missing; or the place of the first fault. Its line counts from 1.
 */
export function verifyLog(files: readonly LogFile[], given?: LogHead) {
  const fault = (file: number, index: number, why: string) =>
    ({ ok: false, file: files[file]?.name ?? '', line: index + 1, why }) as const;
  const notes: string[] = [];
  const chain: Place[] = [];
  let isCutOff = false;
  for (const [file, { name, content }] of files.entries()) {
    const lines = wholeLines(content);
    for (const [index, bytes] of lines.entries()) {
      const text = bytes.toString();
      const line = parseLine(text);
      if (line === undefined)
        return fault(file, index, /"format":/.test(text) ? NEWER : 'It is no line of this log.');
      if (index === 0) {
        const kept = chain.findLastIndex(({ hash }) => hash === line.prev) + 1;
        if (chain.length > 0 && kept === 0 && line.prev !== NOTHING_BEFORE)
          return fault(file, index, BROKEN_SEAM);
        const behind = chain.splice(kept);
        if (behind.some(place => isAt(place, given))) isCutOff = true;
        notes.push(...unconfirmed(behind, files));
      }
      const before = chain.at(-1);
      if (before !== undefined && before.hash !== line.prev) return fault(file, index, BROKEN);
      if (before !== undefined && before.line.boot === line.boot && line.seq < before.line.seq)
        return fault(file, index, 'Its number is below the one before.');
      chain.push({ file, index, line, hash: sha256(bytes) });
    }
    if (content.length > 0 && content.lastIndexOf('\n') < content.length - 1)
      notes.push(`${name}: the last line is torn, as a power cut leaves it.`);
  }
  const newest = chain.at(-1);
  if (given !== undefined && !chain.some(place => isAt(place, given)))
    return fault(newest?.file ?? 0, newest?.index ?? -1, whyNoHead(given, chain[0], isCutOff));
  const head = newest && { seq: newest.line.seq, hash: newest.hash };
  const lines = chain.map(({ line }) => line);
  return { ok: true as const, lines, head, notes, hasBeginning: hasBeginning(lines) };
}

/** Whether the log begins with its first line, or a later line says that the lines before were dropped. */
function hasBeginning(lines: readonly LogLine[]): boolean {
  const [first] = lines;
  if (first === undefined || first.prev === NOTHING_BEFORE) return true;
  return lines.some(({ what, detail }) => what === 'log-dropped' && Number(detail?.last) >= first.seq - 1);
}

function isAt({ line, hash }: Place, given: LogHead | undefined): boolean {
  return line.seq === given?.seq && hash === given.hash;
}

/** One note for each file whose last lines are not in the chain. */
function unconfirmed(behind: readonly Place[], files: readonly LogFile[]): readonly string[] {
  return [...new Set(behind.map(({ file }) => file))].map(file => {
    const own = behind.filter(place => place.file === file);
    const from = (own[0]?.index ?? 0) + 1;
    return `${files[file]?.name}: ${own.length} lines from line ${from} on are not confirmed by the next file.`;
  });
}

function whyNoHead({ seq }: LogHead, first: Place | undefined, isCutOff: boolean): string {
  if (isCutOff) return `The head ${seq} is not confirmed by the next file: lines were removed or rewritten.`;
  return first !== undefined && seq < first.line.seq
    ? `The head ${seq} is older than the first line here: look for older files.`
    : `No line has the number and hash of the head ${seq}: lines were removed or rewritten.`;
}
