import { endedWithin, type Timer } from '../core/clock.js';
import { RobotError } from '../core/errors.js';
import { Listeners } from '../core/listeners.js';
import { sha256 } from '../core/sha256.js';
import { WorkQueue } from '../core/work-queue.js';
import type { LogEvent, LogHead } from '../schemas/log.js';
import { START_MS, type StorageFailure, storageFailure, tooSlow } from '../storage/disk.js';
import type { StateParts } from '../storage/state-file.js';
import { linesAfter } from './lines-after.js';
import { type LogLine, NOTHING_BEFORE, timesOf } from './log-line.js';
import { numberedFiles } from './numbered-files.js';

/** Events within this time share one sync, to spare the SD card. */
const GATHER_MS = 100;
/** The longest wait of a caller for the lines of the log. */
const READ_MS = 1000;
const TRY_AGAIN_MS = 2000;
/** A disk counts as hanging if it has not answered for this long. */
const HANGS_MS = 1000;

/** The most events that wait in memory for a slow or failing disk. */
const MOST_WAITING = 2000;

interface FileLogParts extends StateParts {
  /** Names this run of the daemon; the member `boot` of each line. */
  readonly runId: string;
  isSynchronised(): boolean;
  /** The total size of all files in bytes. A new file begins when the current one has an eighth of it. */
  readonly keptBytes?: number;
}

export type FileLog = ReturnType<typeof createFileLog>;

/**
 * The event log on the disk. Each line has the hash of the line before. No request waits for the log. A power cut
 * loses the lines that are not synced yet.
 */
export function createFileLog({ disk, folder, clock, runId: boot, keptBytes, isSynchronised }: FileLogParts) {
  const changed = new Listeners<void>();
  const files = numberedFiles(disk, folder, keptBytes);
  /** One read at a time: many at once would take the memory and the time of everybody else. */
  const reads = new WorkQueue();
  const flushes = new WorkQueue();
  /** A read has taken longer than its caller waited, and has not ended. */
  let areReadsLate = false;
  let waiting: readonly LogEvent[] = [];
  /** The number of lost events that no line on the disk reports yet. */
  let lost = 0;
  let isRead = false;
  let lastSeq: number | undefined;
  let head: LogHead | undefined;
  let problem: StorageFailure | undefined;
  let timer: Timer | undefined;
  let isFlushing = false;

  const setProblem = (now: StorageFailure | undefined) => {
    problem = now;
    changed.emit();
  };
  /** A slow disk is a problem only while lines wait for it. */
  const shownProblem = () => (isFlushing || waiting.length > 0 || !isSlow(problem) ? problem : undefined);
  const wait = (events: readonly LogEvent[]) => {
    waiting = events.slice(-MOST_WAITING);
    lost += events.length - waiting.length;
  };
  /** The first line of this run follows the newest line in the folder, which is synced first. */
  const read = async () => {
    const newest = await files.newestLine();
    lastSeq = newest?.head.seq;
    await newest?.sync();
    head = newest?.head;
    isRead = true;
  };
  const write = async () => {
    if (await files.isMoved()) {
      const cure = 'Copy the log of events, and leave it where it is.';
      const moved = { operation: 'write', path: folder, errno: 'moved', cure };
      setProblem(new RobotError('storage-failed', moved));
      await files.close();
    }
    const dropped = await files.prepare();
    const [taken, counted] = [waiting, lost];
    const events = [...taken];
    // A line about the log itself repeats the number of the newest line on the disk. If the run could not
    // read the log at its start, its numbers begin at 1. The line then takes the number of the first waiting
    // event if that is smaller.
    const seq = Math.min(head?.seq ?? 0, events[0]?.seq ?? 0);
    const own = { seq, ...timesOf(clock) };
    if (counted > 0) events.unshift({ ...own, what: 'log-lost', detail: { events: counted } });
    if (dropped !== undefined) events.unshift({ ...own, what: 'log-dropped', detail: dropped });
    let newest = head;
    const lines = events.map(event => {
      const prev = newest?.hash ?? NOTHING_BEFORE;
      const line: LogLine = { ...event, boot, synchronised: isSynchronised(), prev };
      const text = JSON.stringify(line);
      newest = { seq: line.seq, hash: sha256(text) };
      return `${text}\n`;
    });
    waiting = [];
    try {
      await files.append(Buffer.from(lines.join('')));
    } catch (error) {
      wait([...taken, ...waiting]);
      throw error;
    }
    head = newest;
    lost -= counted;
  };
  const flush = () =>
    flushes.add(async () => {
      isFlushing = true;
      let isLate = lost > 0;
      const alarm = clock.after(HANGS_MS, () => {
        isLate = true;
        setProblem(problem ?? tooSlow(isRead ? 'write' : 'read', folder));
      });
      try {
        if (!isRead) await read();
        if (waiting.length > 0) await write();
        // After a slow or lossy flush, the problem stays for one more flush. If it ended at once, the event about its
        // end would cause another slow flush, and so on without end.
        setProblem((isLate || lost > 0) && isSlow(problem) ? problem : undefined);
      } catch (error) {
        await files.close();
        timer?.cancel();
        timer = undefined;
        flushSoon(TRY_AGAIN_MS);
        setProblem(storageFailure(error));
      } finally {
        alarm.cancel();
        isFlushing = false;
        if (waiting.length > 0) flushSoon(GATHER_MS);
      }
    });
  const flushSoon = (afterMs: number) => {
    timer ??= clock.after(afterMs, () => {
      timer = undefined;
      // The current flush schedules the next one when it ends.
      if (!isFlushing) void flush();
    });
  };
  return {
    /** Emitted when the problem may have changed. */
    changed,
    /** The number and hash of the last synced line; undefined if there is none. */
    get head() {
      return head;
    },
    /** The number of the newest line that was found at the start, synced or not; undefined if none was found. */
    get lastSeq() {
      return lastSeq;
    },
    /**
     * The synced lines after the line with this hash, at most 256 KiB of them; without a hash, from the oldest line on.
     * Rejects with `unknown-head` if there is no such line, with `storage-failed` if the disk fails or is too slow.
     */
    linesAfter: async (after: string | undefined): Promise<Buffer> => {
      if (head === undefined) {
        if (after === undefined && problem === undefined) return Buffer.alloc(0);
        throw problem ?? new RobotError('unknown-head');
      }
      // A caller who has everything needs no file.
      if (after === head.hash) return Buffer.alloc(0);
      // While the disk hangs, each waiting read would take memory.
      if (areReadsLate) throw tooSlow('read', folder);
      const [newest, latestMs] = [head, clock.nowMs() + READ_MS];
      let hasBegun = false;
      const read = reads.add(async () => {
        if (clock.nowMs() >= latestMs) throw tooSlow('read', folder);
        hasBegun = true;
        return linesAfter(disk, folder, newest, after);
      });
      if (!(await endedWithin(clock, READ_MS, read))) {
        // The reads of others may have taken the time.
        areReadsLate ||= hasBegun;
        const ended = () => {
          areReadsLate = false;
        };
        read.then(ended, ended);
        throw tooSlow('read', folder);
      }
      const lines = await read;
      if (lines === undefined) throw new RobotError('unknown-head');
      return lines;
    },
    /** Why lines do not reach the disk, or are lost. */
    get problem() {
      return shownProblem();
    },
    /**
     * Finds the newest line. Never rejects. If the disk fails or is too slow, events wait in memory, and the search
     * is repeated.
     */
    open: () => endedWithin(clock, START_MS, flush()),
    add: (event: LogEvent): void => {
      const before = lost;
      wait([...waiting, event]);
      if (lost > before && shownProblem() === undefined) setProblem(tooSlow('write', folder));
      flushSoon(GATHER_MS);
    },
    /** Writes the waiting events now. Resolves when the disk has them, or has failed. */
    kept: (): Promise<void> => {
      timer?.cancel();
      timer = undefined;
      return flush();
    },
    /** Tries once more to write the waiting events, and resolves afterwards. */
    close: async (): Promise<void> => {
      await flush();
      timer?.cancel();
      await files.close();
    },
  };
}

function isSlow(problem: StorageFailure | undefined): boolean {
  return problem?.context.errno === 'slow';
}
