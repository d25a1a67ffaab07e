import { endedWithin, type Timer } from '../core/clock.js';
import { RobotError } from '../core/errors.js';
import { Listeners } from '../core/listeners.js';
import { sha256 } from '../core/sha256.js';
import type { LogEvent, LogHead } from '../schemas/log.js';
import { START_MS, type StorageFailure, storageFailure, tooSlow } from '../storage/disk.js';
import type { StateParts } from '../storage/state-file.js';
import { logFiles } from './log-files.js';
import { type LogLine, NOTHING_BEFORE, timesOf } from './log-line.js';

/** Events within this time share one sync, to spare the SD card. */
const GATHER_MS = 100;
const TRY_AGAIN_MS = 2000;
/** A disk counts as hanging if it has not answered for this long. */
const HANGS_MS = 1000;

/** The most events that wait in memory for a slow or failing disk. */
const MOST_WAITING = 2000;

interface Waiting {
  readonly event: LogEvent;
  /** True if the event is the robot's own, or if its caller has rights. */
  readonly hasRights: boolean;
}

interface DurableLogParts extends StateParts {
  /** Names this run of the daemon; the member `boot` of each line. */
  readonly runId: string;
  isSynchronised(): boolean;
  /** The total size of all files in bytes. Each file has an eighth of it. */
  readonly keptBytes?: number;
}

/**
 * The event log on the disk. Each line has the hash of the line before. No request waits for the log. A power cut
 * loses the lines that are not synced yet.
 */
export class DurableLog {
  /** Emitted when the problem may have changed. */
  readonly changed = new Listeners<void>();
  readonly #parts: DurableLogParts;
  readonly #files: ReturnType<typeof logFiles>;
  #waiting: readonly Waiting[] = [];
  /** The number of lost events that no line on the disk counts yet. */
  #lost = 0;
  #isRead = false;
  #lastSeq: number | undefined;
  #head: LogHead | undefined;
  #problem: StorageFailure | undefined;
  #timer: Timer | undefined;
  #work: Promise<void> = Promise.resolve();
  #isFlushing = false;

  constructor(parts: DurableLogParts) {
    this.#parts = parts;
    this.#files = logFiles(parts.disk, parts.folder, parts.keptBytes);
  }

  /**
   * Finds the newest line. Never rejects. If the disk fails or is too slow, events wait in memory, and this is tried
   * again.
   */
  async open(): Promise<void> {
    await endedWithin(this.#parts.clock, START_MS, this.#flush());
  }

  /** The number and hash of the last synced line; undefined if there is none. */
  get head(): LogHead | undefined {
    return this.#head;
  }

  /** The number of the newest line that was found at the start, synced or not; undefined if none was found. */
  get lastSeq(): number | undefined {
    return this.#lastSeq;
  }

  /** Why lines do not reach the disk, or are lost. A slow disk is a problem only while lines wait for it. */
  get problem(): StorageFailure | undefined {
    const isBehind = this.#isFlushing || this.#waiting.length > 0;
    return isBehind || !isSlow(this.#problem) ? this.#problem : undefined;
  }

  /** `hasRights` is true if the event is the robot's own, or if its caller has rights. */
  add(event: LogEvent, hasRights = true): void {
    const lost = this.#lost;
    this.#wait([...this.#waiting, { event, hasRights }]);
    if (this.#lost > lost && this.problem === undefined)
      this.#setProblem(tooSlow('write', this.#parts.folder));
    this.#flushSoon(GATHER_MS);
  }

  /** Tries once more to write the waiting events, and resolves afterwards. */
  async close(): Promise<void> {
    await this.#flush();
    this.#timer?.cancel();
    await this.#files.close();
  }

  #wait(waiting: readonly Waiting[]): void {
    const left = [...waiting];
    for (; left.length > MOST_WAITING; this.#lost += 1) {
      const withoutRights = left.findIndex(({ hasRights }) => !hasRights);
      left.splice(Math.max(0, withoutRights), 1);
    }
    this.#waiting = left;
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
      let isLate = this.#lost > 0;
      const alarm = this.#parts.clock.after(HANGS_MS, () => {
        isLate = true;
        this.#setProblem(this.#problem ?? tooSlow(this.#isRead ? 'write' : 'read', this.#parts.folder));
      });
      try {
        if (!this.#isRead) await this.#read();
        if (this.#waiting.length > 0) await this.#write();
        // After a slow or lossy flush, the problem stays for one more flush. Otherwise the event that reports its end
        // would itself be written slowly, and so on without end.
        const stays = (isLate || this.#lost > 0) && isSlow(this.#problem);
        this.#setProblem(stays ? this.#problem : undefined);
      } catch (error) {
        await this.#files.close();
        this.#timer?.cancel();
        this.#timer = undefined;
        this.#flushSoon(TRY_AGAIN_MS);
        this.#setProblem(storageFailure(error));
      } finally {
        alarm.cancel();
        this.#isFlushing = false;
        if (this.#waiting.length > 0) this.#flushSoon(GATHER_MS);
      }
    });
    return this.#work;
  }

  #setProblem(problem: StorageFailure | undefined): void {
    this.#problem = problem;
    this.changed.emit();
  }

  /** The first line of this run follows the newest line in the folder, which is synced first. */
  async #read(): Promise<void> {
    const newest = await this.#files.newestLine();
    this.#lastSeq = newest?.head.seq;
    await newest?.sync();
    this.#head = newest?.head;
    this.#isRead = true;
  }

  async #write(): Promise<void> {
    const { folder, clock, runId: boot } = this.#parts;
    if (await this.#files.isMoved()) {
      const cure = 'Copy the log of events, and leave it where it is.';
      const moved = { operation: 'write', path: folder, errno: 'moved', cure };
      this.#setProblem(new RobotError('storage-failed', moved));
      await this.#files.close();
    }
    const dropped = await this.#files.prepare();
    const [taken, lost] = [this.#waiting, this.#lost];
    const events = taken.map(({ event }) => event);
    // A line about the log itself repeats the number of the line before it. If the run could not read the log at its
    // start, numbers start at 1, and the line takes the smaller number of the line after it.
    const seq = Math.min(this.#head?.seq ?? 0, events[0]?.seq ?? 0);
    const own = { seq, ...timesOf(clock) };
    if (lost > 0) events.unshift({ ...own, what: 'log-lost', detail: { events: lost } });
    if (dropped !== undefined) events.unshift({ ...own, what: 'log-dropped', detail: dropped });
    let head = this.#head;
    const lines = events.map(event => {
      const synchronised = this.#parts.isSynchronised();
      const line: LogLine = { ...event, boot, synchronised, prev: head?.hash ?? NOTHING_BEFORE };
      const text = JSON.stringify(line);
      head = { seq: line.seq, hash: sha256(text) };
      return `${text}\n`;
    });
    this.#waiting = [];
    try {
      await this.#files.append(Buffer.from(lines.join('')));
    } catch (error) {
      this.#wait([...taken, ...this.#waiting]);
      throw error;
    }
    this.#head = head;
    this.#lost -= lost;
  }
}

function isSlow(problem: StorageFailure | undefined): boolean {
  return problem?.context.errno === 'slow';
}
