import { write, writeSync } from 'node:fs';
import { pino } from 'pino';
import { errnoOf } from '../core/errors.js';

/** The most bytes that wait for a slow reader. Further lines are dropped. */
const WAITING_BYTES = 1 << 20;
/** A pipe takes this many bytes at once or none of them. So the end of the process never tears a line. */
const CHUNK_BYTES = 4096;
/** Lines within this time share one write. One write per line would cost more than the request that it reports. */
const GATHER_MS = 10;
const TRY_AGAIN_MS = 50;
/** The longest wait for a slow reader at the end of the process. */
const FLUSH_MS = 200;
const PAUSE_MS = 5;

/**
 * Writes lines to a file descriptor in the background. If the reader is slow, stuck or gone, or if the disk is full,
 * lines are lost, but nothing waits. Pipes and sockets must be non-blocking.
 *
 * This replaces the asynchronous destination of pino. At the exit of the process, pino's retries forever if the disk
 * is full, and throws if the reader is stuck.
 */
export class LogWriter {
  readonly #fd: number;
  readonly #form: (json: string) => string;
  #chunks: Buffer[] = [];
  /** The bytes of the waiting lines, and of the lines being written. */
  #bytes = 0;
  #lost = 0;
  #isWriting = false;
  #timer: NodeJS.Timeout | undefined;

  /** `form` turns a line of JSON into the text to write. */
  constructor(fd: number, form: (json: string) => string) {
    this.#fd = fd;
    this.#form = form;
  }

  write(line: string): void {
    const bytes = Buffer.from(this.#lostLine() + this.#form(line));
    if (this.#bytes + bytes.length > WAITING_BYTES) {
      this.#lost += 1;
      return;
    }
    this.#lost = 0;
    this.#bytes += bytes.length;
    const last = this.#chunks.at(-1);
    if (last === undefined || last.length + bytes.length > CHUNK_BYTES) this.#chunks.push(bytes);
    else this.#chunks[this.#chunks.length - 1] = Buffer.concat([last, bytes]);
    this.#writeAfter(GATHER_MS);
  }

  /**
   * Writes the waiting lines, as far as the reader takes them in time. It blocks, so use it only at the end of the
   * process.
   */
  flush(): void {
    const untilMs = performance.now() + FLUSH_MS;
    clearTimeout(this.#timer);
    // A write in another thread either ends within this pause or is stuck.
    if (this.#isWriting) pause();
    let bytes = Buffer.concat([...this.#chunks, Buffer.from(this.#lostLine())]);
    while (bytes.length > 0) {
      try {
        bytes = bytes.subarray(writeSync(this.#fd, bytes));
      } catch (error) {
        if (errnoOf(error) !== 'EAGAIN' || performance.now() >= untilMs) return;
        pause();
      }
    }
  }

  #lostLine(): string {
    if (this.#lost === 0) return '';
    const line = {
      level: pino.levels.values.warn,
      time: Date.now(),
      msg: 'log lines lost',
      lines: this.#lost,
    };
    return this.#form(`${JSON.stringify(line)}\n`);
  }

  #writeAfter(delayMs: number): void {
    if (this.#isWriting) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#write(this.#chunks.shift() ?? Buffer.alloc(0));
    }, delayMs).unref();
  }

  #write(chunk: Buffer): void {
    this.#isWriting = true;
    write(this.#fd, chunk, (error, written) => {
      const mustWait = errnoOf(error) === 'EAGAIN';
      const done = error === null ? written : mustWait ? 0 : chunk.length;
      this.#bytes -= done;
      if (done < chunk.length) this.#chunks.unshift(chunk.subarray(done));
      this.#isWriting = false;
      if (this.#chunks.length > 0)
        this.#writeAfter(mustWait ? TRY_AGAIN_MS : this.#bytes > CHUNK_BYTES ? 0 : GATHER_MS);
    });
  }
}

function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
}
