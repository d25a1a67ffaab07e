import type { Clock } from '../core/clock.js';
import { isObject, parsedJson } from '../core/json.js';
import type { LogEvent } from '../schemas/log.js';

/** One line of the log in files: the event, the run of the daemon, and the hash of the line before. */
export interface LogLine extends LogEvent {
  readonly boot: string;
  /** Whether the wall clock was synchronised over the network. */
  readonly synchronised: boolean;
  /** SHA-256 of the line before, without its line break; zeros in the very first line. */
  readonly prev: string;
}

export const NEWLINE = 0x0a;

export const NOTHING_BEFORE = '0'.repeat(64);

/** The lines without their line breaks. They are bytes, because different bytes can decode to the same text. */
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
  const isLogLine = (value: unknown): value is LogLine =>
    isObject(value) &&
    Number.isInteger(value.seq) &&
    [value.boot, value.prev, value.what].every(member => typeof member === 'string');
  const line = parsedJson(text);
  return isLogLine(line) ? line : undefined;
}

/** The times for an event that is recorded now. */
export function timesOf(clock: Clock): Pick<LogEvent, 't' | 'at'> {
  return { t: Math.round(clock.nowMs()) / 1000, at: clock.wallTime().toISOString() };
}
