import { join } from 'node:path';
import { type Clock, endedWithin, type Timer } from '../core/clock.js';
import { RobotError } from '../core/errors.js';
import { Listeners } from '../core/listeners.js';
import { sha256 } from '../core/sha256.js';
import type { LogEvent, LogHead } from '../schemas/log.js';
import { type Disk, type DiskFile, START_MS } from '../storage/disk.js';
import { replaceFile } from '../storage/durable-file.js';
import { type StorageFailure, storageFailure, tooSlow } from '../storage/storage-failure.js';
import { type LogLine, NOTHING_BEFORE, parseLine } from './log-line.js';

export const LOG_FILE = 'events.jsonl';
/** The older part of the log. What was in this file before is dropped when a newer part takes its place. */
export const OLD_LOG_FILE = 'events.old.jsonl';
const MOST_BYTES = 4 << 20;
/** Events within this time share a sync, so that an SD card lasts. */
const GATHER_MS = 100;
const TRY_AGAIN_MS = 2000;
/** A disk that has answered nothing for so long hangs. */
const HANGS_MS = 1000;
/** How many lines wait for a disk that fails. Beyond it the oldest are lost, and a line says so. */
const MOST_WAITING = 2000;

/**
 * The log of events on the disk, each line with the hash of the one before. Nobody waits for it; what has not reached the
 * medium yet is what a power cut takes.
 */
export class DurableLog {
  /** Emitted when there is another problem, or none any more. */
  readonly changed = new Listeners<void>();
  readonly #disk: Disk;
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #runId: string;
  readonly #isSynchronised: () => boolean;
  readonly #mostBytes: number;
  #waiting: LogLine[] = [];
  #lastSeq: number | undefined;
  #lost = 0;
  #file: DiskFile | undefined;
  #bytes = 0;
  /** The number and hash of the last line that was written and synced. */
  #head: LogHead | undefined;
  #failure: StorageFailure | undefined;
  /** The slowness of the disk, kept until lines have reached the medium in time again. */
  #slowness: StorageFailure | undefined;
  #timer: Timer | undefined;
  #work: Promise<void> = Promise.resolve();
  #isFlushing = false;

  constructor(options: {
    disk: Disk;
    folder: string;
    clock: Clock;
    /** Names this run of the daemon; the member `boot` of each line. */
    runId: string;
    isSynchronised: () => boolean;
    mostBytes?: number;
  }) {
    this.#disk = options.disk;
    this.#folder = options.folder;
    this.#clock = options.clock;
    this.#runId = options.runId;
    this.#isSynchronised = options.isSynchronised;
    this.#mostBytes = options.mostBytes ?? MOST_BYTES;
  }

  /** Mends what a power cut left. Never rejects: without a disk, or with one that is too slow, the lines wait. */
  async open(): Promise<void> {
    await endedWithin(this.#clock, START_MS, this.#flush());
  }

  /** Undefined before the first line is on the medium. */
  get head(): LogHead | undefined {
    return this.#head;
  }

  /**
   * The number of the last line that was found, even where the file cannot be continued after it; undefined where there
   * is no line.
   */
  get lastSeq(): number | undefined {
    return this.#lastSeq;
  }

  /** Why lines cannot reach the medium now. */
  get problem(): StorageFailure | undefined {
    const isBehind = this.#isFlushing || this.#waiting.length > 0;
    return this.#failure ?? (isBehind ? this.#slowness : undefined);
  }

  add(event: LogEvent): void {
    const line = { ...event, boot: this.#runId, synchronised: this.#isSynchronised(), prev: '' };
    this.#waiting.push(line);
    if (this.#waiting.length > MOST_WAITING) {
      this.#waiting.shift();
      this.#lost += 1;
    }
    this.#flushSoon(GATHER_MS);
  }

  /** Resolves after a last try to write what waits. */
  async close(): Promise<void> {
    await this.#flush();
    this.#timer?.cancel();
    await this.#file?.close().catch(() => undefined);
    this.#file = undefined;
  }

  #flushSoon(afterMs: number): void {
    this.#timer ??= this.#clock.after(afterMs, () => {
      this.#timer = undefined;
      // A flush that is under way is followed by another by itself.
      if (!this.#isFlushing) void this.#flush();
    });
  }

  #flush(): Promise<void> {
    this.#work = this.#work.then(async () => {
      this.#isFlushing = true;
      const operation = this.#file === undefined ? 'read' : 'write';
      let isSlow = false;
      const alarm = this.#clock.after(HANGS_MS, () => {
        isSlow = true;
        this.#setProblem(this.#failure, tooSlow(operation, this.#path));
      });
      try {
        if (this.#file !== undefined && this.#waiting.length > 0) await this.#leaveIfMoved(this.#file);
        this.#file ??= await this.#prepare();
        await this.#write(this.#file);
        if (this.#bytes > this.#mostBytes) this.#file = await this.#beginAnew(this.#file);
        // The slowness stands after a slow sync. Otherwise the line that says it is over would be the next one to be
        // synced slowly, without end.
        this.#setProblem(undefined, isSlow ? this.#slowness : undefined);
      } catch (error) {
        await this.#file?.close().catch(() => undefined);
        this.#file = undefined;
        this.#timer?.cancel();
        this.#timer = undefined;
        this.#flushSoon(TRY_AGAIN_MS);
        this.#setProblem(storageFailure(error), undefined);
      } finally {
        alarm.cancel();
        this.#isFlushing = false;
        if (this.#waiting.length > 0) this.#flushSoon(GATHER_MS);
      }
    });
    return this.#work;
  }

  #setProblem(failure: StorageFailure | undefined, slowness: StorageFailure | undefined): void {
    this.#failure = failure;
    this.#slowness = slowness;
    this.changed.emit();
  }

  /** Opens the file up to its last whole line, after a power cut or a failed write. */
  async #prepare(): Promise<DiskFile> {
    const path = this.#path;
    const found = (await this.#disk.read(path)) ?? Buffer.alloc(0);
    const whole = found.subarray(0, found.lastIndexOf('\n') + 1);
    const isTorn = whole.length < found.length;
    const last = endLines(whole)?.last ?? (await this.#lastOfOldFile());
    const head = last && headAt(last);
    this.#lastSeq = head?.seq;
    const goesOn = await this.#goesOn(whole);
    // After a failed sync the system may forget what it still holds, so only a new file is known to be on the medium.
    if (found.length === 0 || isTorn || this.#failure !== undefined)
      await replaceFile(this.#disk, path, [whole]);
    const file = await this.#disk.openToAppend(path);
    try {
      await file.sync();
    } catch (error) {
      await file.close().catch(() => undefined);
      throw error;
    }
    if (goesOn) {
      this.#head = head;
      // Of what was appended although its sync failed, nothing is written twice.
      const unconfirmed = this.#waiting.length > 0 ? whole.subarray(this.#bytes).toString().split('\n') : [];
      const lines = unconfirmed.map(parseLine).filter(line => line !== undefined);
      this.#forget(lines.filter(({ boot }) => boot === this.#runId));
    }
    this.#bytes = whole.length;
    if (isTorn) this.#note('log-repaired', { bytes: found.length - whole.length });
    return file;
  }

  /**
   * False where the file that was written last is gone or another one is in its place. The next line then follows the
   * last one that was written all the same, so that `trunnion log verify` finds what is missing; and nothing that is found
   * counts as appended since.
   */
  async #goesOn(whole: Buffer): Promise<boolean> {
    if (this.#head === undefined) return true;
    const [next = ''] = whole.subarray(this.#bytes).toString().split('\n', 1);
    if (parseLine(next)?.prev === this.#head.hash) return true;
    const last = endLines(whole.subarray(0, this.#bytes))?.last ?? (await this.#lastOfOldFile());
    return last !== undefined && sha256(last) === this.#head.hash;
  }

  /** The older part, where a new file was begun and the power went before its first line. */
  async #lastOfOldFile(): Promise<Buffer | undefined> {
    const old = await this.#disk.read(join(this.#folder, OLD_LOG_FILE));
    return old && endLines(old)?.last;
  }

  /** Forgets lines that are in the file now, and the losses that they make good or speak of. */
  #forget(written: readonly LogLine[]): void {
    // The number alone does not name a line: one about the log itself shares that of a neighbour.
    const keyOf = ({ seq, what }: LogEvent) => `${seq} ${what}`;
    const seen = new Set(written.map(keyOf));
    const waited = new Set(this.#waiting.map(keyOf));
    this.#waiting = this.#waiting.filter(line => !seen.has(keyOf(line)));
    for (const line of written) {
      if (line.what === 'log-lost') this.#lost -= Number(line.detail?.events);
      // It was counted as lost when the queue was full, but the disk has written it after all.
      else if (!waited.has(keyOf(line))) this.#lost -= 1;
    }
  }

  async #write(file: DiskFile): Promise<void> {
    const lost = this.#lost > 0 ? [this.#about('log-lost', { events: this.#lost })] : [];
    const lines = [...lost, ...this.#waiting];
    if (lines.length === 0) return;
    let prev = this.#head?.hash ?? NOTHING_BEFORE;
    let seq = 0;
    let text = '';
    for (const line of lines) {
      const written = JSON.stringify({ ...line, prev });
      prev = sha256(written);
      seq = line.seq;
      text += `${written}\n`;
    }
    const bytes = Buffer.from(text);
    await file.append(bytes);
    await file.sync();
    this.#bytes += bytes.length;
    this.#forget(lines);
    this.#head = { seq, hash: prev };
  }

  /**
   * Begins a new file and drops the older part. How much is dropped is written down first, so that even a power cut
   * leaves a trace of it.
   */
  async #beginAnew(file: DiskFile): Promise<DiskFile> {
    const oldPath = join(this.#folder, OLD_LOG_FILE);
    const dropped = await this.#disk.read(oldPath);
    const ends = dropped && endLines(dropped);
    if (ends !== undefined) {
      this.#note('log-dropped', { first: headAt(ends.first).seq, last: headAt(ends.last).seq });
      await this.#write(file);
    }
    await file.close();
    await this.#disk.rename(this.#path, oldPath);
    await this.#disk.syncFolder(this.#folder);
    return this.#prepare();
  }

  /** What was written to a file before it was moved is in it; what waits goes into another at once. */
  async #leaveIfMoved(file: DiskFile): Promise<void> {
    if (await file.isInPlace()) return;
    const cure = 'Copy the log of events, and leave it where it is.';
    const failure = { operation: 'write', path: this.#path, errno: 'moved', cure } as const;
    this.#setProblem(new RobotError('storage-failed', failure), undefined);
    await file.close().catch(() => undefined);
    this.#file = undefined;
  }

  get #path(): string {
    return join(this.#folder, LOG_FILE);
  }

  /** Adds a line about the log itself. It goes before what waits. */
  #note(what: string, detail: Readonly<Record<string, number>>): void {
    this.#waiting.unshift(this.#about(what, detail));
  }

  /**
   * A line about the log itself takes no number of its own: it has the number of the line before it. But a run that could
   * not read the log at its start counts from 1, and the numbers of one run may not go down. So where the line that waits
   * behind it has a smaller number, it takes that one.
   */
  #about(what: string, detail: Readonly<Record<string, number>>): LogLine {
    const before = this.#head?.seq ?? 0;
    return {
      seq: Math.min(before, this.#waiting[0]?.seq ?? before),
      t: Math.round(this.#clock.nowMs()) / 1000,
      at: this.#clock.wallTime().toISOString(),
      what,
      detail,
      boot: this.#runId,
      synchronised: this.#isSynchronised(),
      prev: '',
    };
  }
}

/**
 * The first and the last of the whole lines in megabytes of content, of which nothing else is looked at; undefined
 * where there are none.
 */
function endLines(content: Buffer): { readonly first: Buffer; readonly last: Buffer } | undefined {
  const end = content.length - 1;
  if (end < 0) return undefined;
  return {
    first: content.subarray(0, content.indexOf('\n')),
    last: content.subarray(content.lastIndexOf('\n', end - 1) + 1, end),
  };
}

function headAt(line: Buffer): LogHead {
  return { seq: parseLine(line.toString())?.seq ?? 0, hash: sha256(line) };
}
