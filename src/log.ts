import { type DestinationStream, destination, type Logger, pino } from 'pino';

/** Lines that wait for a slow reader of stdout; beyond that lines are lost, never time or memory. */
const WAITING_BYTES = 1 << 20;
const LEVELS: Readonly<Record<number, string>> = {
  20: 'DEBUG',
  30: 'INFO',
  40: 'WARN',
  50: 'ERROR',
  60: 'FATAL',
};

export interface LogOptions {
  readonly level: string;
  /** For people; default: whether stdout is a terminal. */
  readonly readable?: boolean;
}

/** JSON lines on stdout, or readable ones on a terminal. Writing never blocks. */
export function createLog({ level, readable = process.stdout.isTTY }: LogOptions): Logger {
  const stdout = destination({ fd: 1, sync: false, maxLength: WAITING_BYTES });
  const stream: DestinationStream = readable ? { write: line => stdout.write(readableLine(line)) } : stdout;
  const log = pino({ level, base: null }, stream);
  flushes.set(log, () => stdout.flushSync());
  return log;
}

const flushes = new WeakMap<Logger, () => void>();

/** Writes out what waits, as far as the reader takes it at once. */
export function closeLog(log: Logger): void {
  try {
    flushes.get(log)?.();
  } catch {
    // The reader is gone or stuck; an end of the process does not wait for it.
  }
}

/** `20:31:07.123 INFO  mode  unit=gimbal before="manual" after="auto"` */
export function readableLine(json: string): string {
  const { level, time, msg, ...fields } = JSON.parse(json);
  const clock = new Date(time).toISOString().slice(11, 23);
  const told = Object.entries(fields).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
  return `${[clock, (LEVELS[level] ?? String(level)).padEnd(5), msg, ...told].join(' ')}\n`;
}
