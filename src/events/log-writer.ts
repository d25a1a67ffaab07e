import { write, writeSync } from 'node:fs';
import { errnoOf } from '../core/errors.js';

/** The bytes that wait for a slow reader. Beyond it lines are lost, rather than time or memory. */
const WAITING_BYTES = 1 << 20;
/** A pipe takes this many bytes at once or none of them, so that the end of the process tears no line. */
const CHUNK_BYTES = 4096;
/** Lines within this time share a write. One write per line would cost more than the request that it reports. */
const GATHER_MS = 10;
const TRY_AGAIN_MS = 50;
const PAUSE_MS = 5;

/**
 * Writes lines to a file descriptor in the background. If the reader is slow, stuck or gone, or the disk is full, lines are
 * lost and nothing waits for them. Pipes and sockets have to be non-blocking.
 *
 * This replaces the asynchronous destination of pino. When the process exits, that one retries forever if the disk is full,
 * and throws if the reader is stuck.
 */
export class LogWriter {
  readonly #fd: number;
  readonly #lostLine: (lines: number) => string;
  #waiting: Buffer[] = [];
  /** The bytes of the lines that wait, and of those that are being written. */
  #bytes = 0;
  #lost = 0;
  #isWriting = false;
  #timer: NodeJS.Timeout | undefined;

  /** `lostLine` makes the line that reports lost lines. */
  constructor(fd: number, lostLine: (lines: number) => string) {
    this.#fd = fd;
    this.#lostLine = lostLine;
  }

  write(line: string): void {
    const bytes = Buffer.from(this.#lost > 0 ? this.#lostLine(this.#lost) + line : line);
    if (this.#bytes + bytes.length > WAITING_BYTES) {
      this.#lost += 1;
      return;
    }
    this.#lost = 0;
    this.#waiting.push(bytes);
    this.#bytes += bytes.length;
    this.#writeAfter(GATHER_MS);
  }

  /**
   * Writes what waits, as far as the reader takes it within this time. It blocks, so it is only for the end of the
   * process.
   */
  flush(withinMs: number): void {
    const untilMs = performance.now() + withinMs;
    clearTimeout(this.#timer);
    // A write in another thread either ends within this pause or is stuck.
    if (this.#isWriting) pause();
    if (this.#lost > 0) this.#waiting.push(Buffer.from(this.#lostLine(this.#lost)));
    let bytes = Buffer.concat(this.#waiting);
    while (bytes.length > 0) {
      try {
        bytes = bytes.subarray(writeSync(this.#fd, bytes));
      } catch (error) {
        if (errnoOf(error) !== 'EAGAIN' || performance.now() >= untilMs) return;
        pause();
      }
    }
  }

  #writeAfter(delayMs: number): void {
    if (this.#isWriting) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#isWriting = true;
      this.#write(this.#nextChunk());
    }, delayMs).unref();
  }

  #nextChunk(): Buffer {
    let bytes = 0;
    const tooMany = this.#waiting.findIndex(line => {
      bytes += line.length;
      return bytes > CHUNK_BYTES;
    });
    const count = tooMany < 0 ? this.#waiting.length : Math.max(1, tooMany);
    return Buffer.concat(this.#waiting.splice(0, count));
  }

  #write(chunk: Buffer): void {
    write(this.#fd, chunk, (error, written) => {
      const mustWait = errnoOf(error) === 'EAGAIN';
      const done = error === null ? written : mustWait ? 0 : chunk.length;
      this.#bytes -= done;
      if (done < chunk.length) this.#waiting.unshift(chunk.subarray(done));
      this.#isWriting = false;
      if (this.#waiting.length > 0)
        this.#writeAfter(mustWait ? TRY_AGAIN_MS : this.#bytes > CHUNK_BYTES ? 0 : GATHER_MS);
    });
  }
}

function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
}
