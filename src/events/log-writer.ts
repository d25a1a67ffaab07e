import { write, writeSync } from 'node:fs';
import { errnoOf } from '../core/errors.js';

/** How many bytes wait for a slow reader. Beyond it lines are lost, rather than time or memory. */
const WAITING_BYTES = 1 << 20;
/**
 * A pipe takes this many bytes at once or none of them, so that a write cut short by the end of the process tears no
 * line.
 */
const CHUNK_BYTES = 4096;
/** Lines that come together are written together: a write of its own for each would cost more than its request. */
const GATHER_MS = 10;
const TRY_AGAIN_MS = 50;
const PAUSE_MS = 5;

/**
 * Writes lines to a file descriptor in the background. Where the reader is slow, stuck or gone, or the disk full, lines
 * are lost and nobody waits for them. Pipes and sockets have to be non-blocking.
 */
export class LogWriter {
  readonly #fd: number;
  readonly #lostLine: (lines: number) => string;
  #waiting: string[] = [];
  #waitingBytes = 0;
  #lost = 0;
  /** The bytes that are being written or will be tried again. */
  #chunk: Buffer | undefined;
  #tryAgain: NodeJS.Timeout | undefined;
  #gathering: NodeJS.Timeout | undefined;

  /** `lostLine` makes the line that stands for so many lost ones. */
  constructor(fd: number, lostLine: (lines: number) => string) {
    this.#fd = fd;
    this.#lostLine = lostLine;
  }

  write(line: string): void {
    const text = this.#lost > 0 ? this.#lostLine(this.#lost) + line : line;
    const bytes = Buffer.byteLength(text);
    if (this.#waitingBytes + bytes > WAITING_BYTES) {
      this.#lost += 1;
      return;
    }
    this.#lost = 0;
    this.#waiting.push(text);
    this.#waitingBytes += bytes;
    if (this.#chunk === undefined) this.#gather();
  }

  /**
   * Writes what waits, as far as the reader takes it within this time. It blocks, so it is only for the end of the
   * process.
   */
  flush(withinMs: number): void {
    const untilMs = performance.now() + withinMs;
    if (this.#lost > 0) this.#waiting.push(this.#lostLine(this.#lost));
    let bytes = Buffer.concat([this.#recalled(), Buffer.from(this.#waiting.join(''))]);
    this.#waiting = [];
    clearTimeout(this.#gathering);
    this.#gathering = undefined;
    this.#waitingBytes = this.#chunk?.length ?? 0;
    this.#lost = 0;
    while (bytes.length > 0) {
      try {
        bytes = bytes.subarray(writeSync(this.#fd, bytes));
      } catch (error) {
        if (errnoOf(error) !== 'EAGAIN' || performance.now() >= untilMs) return;
        pause();
      }
    }
  }

  /** The bytes that the reader did not take yet. */
  #recalled(): Buffer {
    const chunk = this.#chunk ?? Buffer.alloc(0);
    if (this.#tryAgain !== undefined) {
      clearTimeout(this.#tryAgain);
      this.#tryAgain = undefined;
      this.#chunk = undefined;
      return chunk;
    }
    // Another thread is at work on a write under way. It ends very soon or is stuck.
    if (chunk.length > 0) pause();
    return Buffer.alloc(0);
  }

  #gather(): void {
    this.#gathering ??= setTimeout(() => {
      this.#gathering = undefined;
      this.#next();
    }, GATHER_MS);
  }

  #next(): void {
    let count = 0;
    let bytes = 0;
    for (const line of this.#waiting) {
      bytes += Buffer.byteLength(line);
      if (count > 0 && bytes > CHUNK_BYTES) break;
      count += 1;
    }
    if (count > 0) this.#send(Buffer.from(this.#waiting.splice(0, count).join('')));
  }

  #written(): void {
    this.#chunk = undefined;
    if (this.#waitingBytes > CHUNK_BYTES) this.#next();
    else if (this.#waiting.length > 0) this.#gather();
  }

  #send(chunk: Buffer): void {
    this.#chunk = chunk;
    this.#tryAgain = undefined;
    write(this.#fd, chunk, (error, written) => {
      if (errnoOf(error) === 'EAGAIN') {
        this.#tryAgain = setTimeout(() => this.#send(chunk), TRY_AGAIN_MS).unref();
        return;
      }
      const done = error === null ? written : chunk.length;
      this.#waitingBytes -= done;
      if (done < chunk.length) this.#send(chunk.subarray(done));
      else this.#written();
    });
  }
}

function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
}
