import { type Logger, pino } from 'pino';
import { LogWriter } from './log-writer.js';

/**
 * The daemon's log on stdout: JSON lines, or readable lines on a terminal. Writing never blocks. `flush` blocks; use
 * it at the end of the process.
 */
export function createLog({ level }: { readonly level: string }): Logger {
  // Reading process.stdout makes a pipe or a socket non-blocking, as the writer requires.
  const { stdout } = process;
  const inColour = stdout.isTTY && stdout.hasColors();
  const form = stdout.isTTY ? (line: string) => readableLine(line, inColour) : (line: string) => line;
  return pino({ level, base: null }, new LogWriter(1, form));
}

/** The ECMA-48 codes of the parts of a line and of the log levels. */
const STYLES: Readonly<Record<string, number | string>> = {
  faint: 2,
  bold: 1,
  link: '1;4;36',
  info: 32,
  warn: 33,
  error: 31,
  fatal: '1;31',
};

/**
 * Formats a line as `20:31:07.123 INFO  mode  unit="gimbal" before="manual" after="auto"`. A URL gets a line of its
 * own below.
 */
export function readableLine(json: string, inColour: boolean): string {
  const { level, time, msg, url, ...fields } = JSON.parse(json);
  const styled = (style: string, text: string) =>
    inColour ? `\x1b[${STYLES[style] ?? STYLES.faint}m${text}\x1b[0m` : text;
  const label = pino.levels.labels[level] ?? String(level);
  const details = Object.entries(fields).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
  const words = [
    styled('faint', new Date(time).toISOString().slice(11, 23)),
    styled(label, label.toUpperCase().padEnd(5)),
    styled('bold', typeof url === 'string' ? msg.replace(` on ${url}`, '') : msg),
    ...(details.length > 0 ? [styled('faint', details.join(' '))] : []),
  ];
  return `${words.join(' ')}\n${typeof url === 'string' ? `\n  ${styled('link', url)}\n` : ''}`;
}
