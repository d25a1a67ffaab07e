import { type Logger, pino } from 'pino';
import { LogWriter } from './log-writer.js';

/** The end of the process waits for a slow reader no longer than this. */
const CLOSE_MS = 200;

interface LogOptions {
  readonly level: string;
}

/** JSON lines on stdout, or readable ones on a terminal. Writing never blocks. */
export function createLog({ level }: LogOptions): Logger {
  // Reading process.stdout makes a pipe or a socket non-blocking, as the writer needs it.
  const { stdout } = process;
  const inColour = stdout.isTTY && stdout.hasColors();
  const form = stdout.isTTY ? (line: string) => readableLine(line, inColour) : (line: string) => line;
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

/** The ECMA-48 codes of each style. */
const STYLES = { faint: 2, bold: 1, link: '1;4;36', info: 32, warn: 33, error: 31, fatal: '1;31' } as const;
type Style = keyof typeof STYLES;

/**
 * `20:31:07.123 INFO  mode  unit="gimbal" before="manual" after="auto"`. An address to open stands alone on a line below.
 */
export function readableLine(json: string, inColour: boolean): string {
  const { level, time, msg, url, ...fields } = JSON.parse(json);
  const styled = (style: Style, text: string) => (inColour ? `\x1b[${STYLES[style]}m${text}\x1b[0m` : text);
  const label = pino.levels.labels[level] ?? String(level);
  const details = Object.entries(fields).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
  const words = [
    styled('faint', new Date(time).toISOString().slice(11, 23)),
    styled(isStyle(label) ? label : 'faint', label.toUpperCase().padEnd(5)),
    styled('bold', typeof url === 'string' ? msg.replace(` on ${url}`, '') : msg),
    ...(details.length > 0 ? [styled('faint', details.join(' '))] : []),
  ];
  return `${words.join(' ')}\n${typeof url === 'string' ? `\n  ${styled('link', url)}\n` : ''}`;
}

function isStyle(label: string): label is Style {
  return Object.hasOwn(STYLES, label);
}
