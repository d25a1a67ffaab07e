import { isObject } from '../core/json.js';
import { sha256 } from '../core/sha256.js';
import type { LogEvent, LogHead } from '../schemas/log.js';

/** One line of the durable log: the event, which run of the daemon it is from, and the hash of the line before. */
export interface LogLine extends LogEvent {
  readonly boot: string;
  /** Whether the wall clock was synchronised over the network. */
  readonly synchronised: boolean;
  /** SHA-256 of the line before, without its line break; zeros in the first line of all. */
  readonly prev: string;
}

const NEWLINE = 0x0a;

export const NOTHING_BEFORE = '0'.repeat(64);

type Verdict =
  | {
      readonly ok: true;
      readonly lines: number;
      readonly head: LogHead | undefined;
      readonly notes: readonly string[];
    }
  | { readonly ok: false; readonly line: number; readonly why: string };

/**
 * Checks that the lines stand as they were written, and lead to the head that was given out. A torn last line is the
 * trace of a power cut and does not count as tampering.
 */
export function verifyLog(content: Buffer, given?: LogHead): Verdict {
  const lines = wholeLines(content);
  const isTorn = content.length > 0 && content.at(-1) !== NEWLINE;
  const notes = isTorn ? ['The last line is torn, as a power cut leaves it.'] : [];
  let before: { readonly line: LogLine; readonly hash: string } | undefined;
  let isHeadSeen = false;
  for (const [index, bytes] of lines.entries()) {
    const number = index + 1;
    const text = bytes.toString();
    const line = parseLine(text);
    if (line === undefined) {
      const why = /"format":/.test(text)
        ? 'A newer version of Trunnion wrote it: verify the log with that one.'
        : 'It is no line of this log.';
      return { ok: false, line: number, why };
    }
    if (before !== undefined) {
      if (line.prev !== before.hash) {
        return {
          ok: false,
          line: number,
          why: 'It does not follow the line before: one of them was changed, or lines are missing or stand twice.',
        };
      }
      if (line.boot === before.line.boot && line.seq < before.line.seq) {
        return { ok: false, line: number, why: 'Its number is below the one before.' };
      }
    }
    before = { line, hash: sha256(bytes) };
    isHeadSeen ||= before.hash === given?.hash && line.seq === given.seq;
  }
  if (given !== undefined && !isHeadSeen) {
    const first = parseLine(String(lines[0] ?? ''))?.seq;
    const isOlder = first !== undefined && given.seq < first;
    const why = isOlder
      ? `The head ${given.seq} is older than this file: look into the file before it.`
      : `No line has the number and hash of the head ${given.seq}: the log was cut or written anew.`;
    return { ok: false, line: lines.length, why };
  }
  const head = before === undefined ? undefined : { seq: before.line.seq, hash: before.hash };
  return { ok: true, lines: lines.length, head, notes };
}

/** The lines without their line breaks. They are bytes, since different bytes can decode to the same text. */
export function wholeLines(content: Buffer): readonly Buffer[] {
  const lines: Buffer[] = [];
  for (let from = 0; ; ) {
    const end = content.indexOf(NEWLINE, from);
    if (end < 0) return lines;
    lines.push(content.subarray(from, end));
    from = end + 1;
  }
}

export function parseLine(text: string): LogLine | undefined {
  try {
    const line: unknown = JSON.parse(text);
    return isLogLine(line) ? line : undefined;
  } catch {
    return undefined;
  }
}

function isLogLine(value: unknown): value is LogLine {
  if (!isObject(value)) return false;
  const { seq, boot, prev, what } = value;
  return (
    Number.isInteger(seq) && typeof boot === 'string' && typeof prev === 'string' && typeof what === 'string'
  );
}
