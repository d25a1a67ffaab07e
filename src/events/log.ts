import { type Logger, pino } from 'pino';
import { LogWriter } from './log-writer.js';

/** The end of the process waits for a slow reader no longer than this. */
const CLOSE_MS = 200;

export interface LogOptions {
  readonly level: string;
  /** For people; default: whether stdout is a terminal. */
  readonly readable?: boolean;
}

/** JSON lines on stdout, or readable ones on a terminal. Writing never blocks. */
export function createLog({ level, readable }: LogOptions): Logger {
  // Even to look at process.stdout makes a pipe or a socket non-blocking, as the writer needs it.
  const { isTTY } = process.stdout;
  const form = (readable ?? isTTY) ? readableLine : (line: string) => line;
  const writer = new LogWriter(1, lines => form(lostLine(lines)));
  const log = pino({ level, base: null }, { write: line => writer.write(form(line)) });
  writers.set(log, writer);
  return log;
}

const writers = new WeakMap<Logger, LogWriter>();

/** Writes out what waits, as far as the reader takes it. */
export function closeLog(log: Logger): void {
  writers.get(log)?.flush(CLOSE_MS);
}

function lostLine(lines: number): string {
  return `${JSON.stringify({ level: pino.levels.values.warn, time: Date.now(), msg: 'log lines lost', lines })}\n`;
}

/** `20:31:07.123 INFO  mode  unit=gimbal before="manual" after="auto"` */
export function readableLine(json: string): string {
  const { level, time, msg, ...fields } = JSON.parse(json);
  const clock = new Date(time).toISOString().slice(11, 23);
  const told = Object.entries(fields).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
  return `${[clock, (pino.levels.labels[level] ?? String(level)).toUpperCase().padEnd(5), msg, ...told].join(' ')}\n`;
}
