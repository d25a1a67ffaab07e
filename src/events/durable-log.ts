import { type Clock, endedWithin, type Timer } from '../core/clock.js';
import { RobotError } from '../core/errors.js';
import { Listeners } from '../core/listeners.js';
import { sha256 } from '../core/sha256.js';
import type { LogEvent, LogHead } from '../schemas/log.js';
import { type Disk, START_MS } from '../storage/disk.js';
import { type StorageFailure, storageFailure, tooSlow } from '../storage/storage-failure.js';
import { LogFiles } from './log-files.js';
import { type LogLine, NOTHING_BEFORE } from './log-line.js';
import { LogQueue } from './log-queue.js';

/** Events within this time share a sync, so that an SD card lasts. */
const GATHER_MS = 100;
const TRY_AGAIN_MS = 2000;
/** A disk that has not answered for this long hangs. */
const HANGS_MS = 1000;

interface DurableLogParts {
  readonly disk: Disk;
  readonly folder: string;
  readonly clock: Clock;
  /** Names this run of the daemon; the member `boot` of each line. */
  readonly runId: string;
  isSynchronised(): boolean;
  /** The bytes of all files together; each has an eighth of them. */
  readonly keptBytes?: number;
}

/**
 * The event log on the disk. Each line has the hash of the line before. No request waits for it. A power cut takes the
 * lines that are not on the medium yet.
 */
export class DurableLog {
  /** Emitted when the problem may have changed. */
  readonly changed = new Listeners<void>();
  readonly #parts: DurableLogParts;
  readonly #files: LogFiles;
  readonly #queue = new LogQueue();
  #isRead = false;
  #lastSeq: number | undefined;
  #head: LogHead | undefined;
  #failure: StorageFailure | undefined;
  /** Kept until lines have reached the medium in time again. */
  #slowness: StorageFailure | undefined;
  #timer: Timer | undefined;
  #work: Promise<void> = Promise.resolve();
  #isFlushing = false;

  constructor(parts: DurableLogParts) {
    this.#parts = parts;
    this.#files = new LogFiles(parts.disk, parts.folder, parts.keptBytes);
  }

  /** Finds the newest line. Never rejects: if the disk fails or is too slow, events wait and it is tried again. */
  async open(): Promise<void> {
    await endedWithin(this.#parts.clock, START_MS, this.#flush());
  }

  /** The number and hash of the last synced line; undefined if there is none. */
  get head(): LogHead | undefined {
    return this.#head;
  }

  /** The number of the newest line that was found at the start; undefined if none was found. */
  get lastSeq(): number | undefined {
    return this.#lastSeq;
  }

  /** Why lines do not reach the medium, or are lost. */
  get problem(): StorageFailure | undefined {
    const isBehind = this.#isFlushing || !this.#queue.isEmpty;
    return this.#failure ?? (isBehind ? this.#slowness : undefined);
  }

  /** `hasRights` says that the event is the robot's own or that of a caller who has rights. */
  add(event: LogEvent, hasRights = true): void {
    const { lost } = this.#queue;
    this.#queue.add(event, hasRights);
    if (this.#queue.lost > lost && this.problem === undefined)
      this.#setProblem(undefined, tooSlow('write', this.#parts.folder));
    this.#flushSoon(GATHER_MS);
  }

  /** Resolves after a last attempt to write what waits. */
  async close(): Promise<void> {
    await this.#flush();
    this.#timer?.cancel();
    await this.#files.close();
  }

  #flushSoon(afterMs: number): void {
    this.#timer ??= this.#parts.clock.after(afterMs, () => {
      this.#timer = undefined;
      // The current flush schedules the next one when it ends.
      if (!this.#isFlushing) void this.#flush();
    });
  }

  #flush(): Promise<void> {
    this.#work = this.#work.then(async () => {
      this.#isFlushing = true;
      const { lost } = this.#queue;
      let isSlow = false;
      const alarm = this.#parts.clock.after(HANGS_MS, () => {
        isSlow = true;
        this.#setProblem(this.#failure, tooSlow(this.#isRead ? 'write' : 'read', this.#parts.folder));
      });
      try {
        if (!this.#isRead) await this.#read();
        if (!this.#queue.isEmpty) await this.#write();
        // After a slow or lossy flush the problem stays for another one. Otherwise the event that says it is over would
        // be the next to be written slowly, without end.
        this.#setProblem(undefined, isSlow || lost > 0 || this.#queue.lost > 0 ? this.#slowness : undefined);
      } catch (error) {
        this.#queue.failed();
        await this.#files.close();
        this.#timer?.cancel();
        this.#timer = undefined;
        this.#flushSoon(TRY_AGAIN_MS);
        this.#setProblem(storageFailure(error), undefined);
      } finally {
        alarm.cancel();
        this.#isFlushing = false;
        if (!this.#queue.isEmpty) this.#flushSoon(GATHER_MS);
      }
    });
    return this.#work;
  }

  #setProblem(failure: StorageFailure | undefined, slowness: StorageFailure | undefined): void {
    this.#failure = failure;
    this.#slowness = slowness;
    this.changed.emit();
  }

  /** The first line of this run follows the newest line in the folder, which is synced first. */
  async #read(): Promise<void> {
    const newest = await this.#files.newestLine();
    this.#lastSeq = newest?.head.seq;
    if (newest !== undefined) await this.#files.sync(newest.path);
    this.#head = newest?.head;
    this.#isRead = true;
  }

  async #write(): Promise<void> {
    if (await this.#files.isMoved()) {
      const cure = 'Copy the log of events, and leave it where it is.';
      const moved = { operation: 'write', path: this.#parts.folder, errno: 'moved', cure } as const;
      this.#setProblem(new RobotError('storage-failed', moved), undefined);
      await this.#files.close();
    }
    const dropped = await this.#files.prepare();
    const { lost } = this.#queue;
    const events = this.#queue.take();
    // A line about the log itself repeats the number of the line before it. If the run could not read the log at its
    // start, it counts from 1, and the line takes the lower number of the next line.
    const seq = Math.min(this.#head?.seq ?? 0, events[0]?.seq ?? 0);
    const about = (what: string, detail: Readonly<Record<string, number>>): LogEvent => ({
      seq,
      t: Math.round(this.#parts.clock.nowMs()) / 1000,
      at: this.#parts.clock.wallTime().toISOString(),
      what,
      detail,
    });
    if (lost > 0) events.unshift(about('log-lost', { events: lost }));
    if (dropped !== undefined) events.unshift(about('log-dropped', { ...dropped }));
    let head = this.#head;
    const lines = events.map(event => {
      const line: LogLine = {
        ...event,
        boot: this.#parts.runId,
        synchronised: this.#parts.isSynchronised(),
        prev: head?.hash ?? NOTHING_BEFORE,
      };
      const text = JSON.stringify(line);
      head = { seq: line.seq, hash: sha256(text) };
      return `${text}\n`;
    });
    await this.#files.append(Buffer.from(lines.join('')));
    this.#head = head;
    this.#queue.written(lost);
  }
}
