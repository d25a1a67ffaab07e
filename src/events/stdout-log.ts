import { write, writeSync } from 'node:fs';
import { type Logger, pino } from 'pino';
import { visible } from '../core/control-characters.js';
import { errnoOf } from '../core/errors.js';

/**
 * The daemon's log on stdout: JSON lines, or readable lines on a terminal. Writing never blocks. `flush` blocks; use
 * it at the end of the process.
 */
export function createStdoutLog({ level }: { readonly level: string }): Logger {
  // Reading process.stdout makes a pipe or a socket non-blocking, as the writer requires.
  const { stdout } = process;
  const inColour = stdout.isTTY && stdout.hasColors();
  const form = (line: string) =>
    stdout.isTTY ? readableLine(line, inColour) : `${visible(line.trimEnd())}\n`;
  return pino({ level, base: null }, lineWriter(1, form));
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
    inColour ? `\x1b[${STYLES[style] ?? STYLES.faint}m${visible(text)}\x1b[0m` : visible(text);
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

/** The most bytes that wait for a slow reader. Further lines are dropped. */
const WAITING_BYTES = 1 << 20;
/** A pipe takes this many bytes at once or none of them. So the end of the process never tears a line. */
const CHUNK_BYTES = 4096;
/**
 * Lines within this time share one write. One write per line would cost more than the request that the line
 * reports.
 */
const GATHER_MS = 10;
const TRY_AGAIN_MS = 50;
/** The longest wait for a slow reader at the end of the process. */
const FLUSH_MS = 200;
const PAUSE_MS = 5;
/** A write in another thread ends within this time, even on a busy machine, unless it is stuck. */
const IN_FLIGHT_MS = 100;

/**
 * Writes lines to a file descriptor in the background. `form` turns a line of JSON into the text to write. If the reader
 * is slow, stuck or gone, or if the disk is full, lines are lost, but nothing waits. Pipes and sockets must be
 * non-blocking.
 *
 * This replaces the asynchronous destination of pino. When the process ends, pino's destination retries forever if the
 * disk is full, and throws if the reader is stuck.
 */
function lineWriter(fd: number, form: (json: string) => string) {
  /** Oldest first. The lines of a chunk become bytes when it is written. What the reader did not take is bytes already. */
  const chunks: (Buffer | string)[] = [];
  /** The bytes of the newest chunk. */
  let newestBytes = 0;
  /** The bytes of the waiting lines, and of the lines being written. */
  let waiting = 0;
  let lost = 0;
  let isWriting = false;
  let timer: NodeJS.Timeout | undefined;

  const lostLine = () => {
    if (lost === 0) return '';
    const line = { level: pino.levels.values.warn, time: Date.now(), msg: 'log lines lost', lines: lost };
    return form(`${JSON.stringify(line)}\n`);
  };
  const writeAfter = (delayMs: number) => {
    if (isWriting) return;
    timer ??= setTimeout(() => {
      timer = undefined;
      writeChunk(bytesOf(chunks.shift() ?? ''));
    }, delayMs).unref();
  };
  const writeChunk = (chunk: Buffer) => {
    isWriting = true;
    write(fd, chunk, (error, written) => {
      const mustWait = errnoOf(error) === 'EAGAIN';
      const done = error === null ? written : mustWait ? 0 : chunk.length;
      waiting -= done;
      if (done < chunk.length) chunks.unshift(chunk.subarray(done));
      isWriting = false;
      if (chunks.length > 0) writeAfter(mustWait ? TRY_AGAIN_MS : waiting > CHUNK_BYTES ? 0 : GATHER_MS);
    });
  };
  return {
    write: (line: string): void => {
      const text = lostLine() + form(line);
      const bytes = Buffer.byteLength(text);
      if (waiting + bytes > WAITING_BYTES) {
        lost += 1;
        return;
      }
      lost = 0;
      waiting += bytes;
      newestBytes += bytes;
      const newest = chunks.at(-1);
      if (typeof newest === 'string' && newestBytes <= CHUNK_BYTES) chunks[chunks.length - 1] = newest + text;
      else {
        chunks.push(text);
        newestBytes = bytes;
      }
      writeAfter(GATHER_MS);
    },
    /**
     * Writes the waiting lines, as far as the reader takes them in time. It blocks, so use it only at the end of the
     * process.
     */
    flush: (): void => {
      const untilMs = performance.now() + FLUSH_MS;
      clearTimeout(timer);
      timer = undefined;
      // The lines of the write in flight come before the waiting ones. A blocked thread cannot learn that
      // this write has ended, so it only pauses.
      if (isWriting) pause(IN_FLIGHT_MS);
      for (const chunk of [...chunks.splice(0), lostLine()]) {
        let bytes = bytesOf(chunk);
        while (bytes.length > 0) {
          try {
            bytes = bytes.subarray(writeSync(fd, bytes));
          } catch (error) {
            if (errnoOf(error) !== 'EAGAIN' || performance.now() >= untilMs) return;
            pause();
          }
        }
      }
    },
  };
}

function bytesOf(chunk: Buffer | string): Buffer {
  return typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
}

function pause(ms = PAUSE_MS): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
