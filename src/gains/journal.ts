import type { Clock, Timer } from '../core/clock.js';
import { isRobotError, RobotError } from '../core/errors.js';
import { Listeners } from '../core/listeners.js';
import { WorkQueue } from '../core/work-queue.js';
import { type Disk, refusal, type StorageFailure, storageFailure, tooSlow } from '../storage/disk.js';
import type { ProcessLock } from '../storage/path-lock.js';
import { JournalFile } from './journal-file.js';
import { type JournalEntry, journalBytes } from './journal-line.js';
import type { NewEntry, Revisions } from './revisions.js';

const COMPACTED_ABOVE_BYTES = 4 << 20;
const KEPT_OF_EACH_UNIT = 2000;
/** A save that the disk has not confirmed within this time has failed for its caller. */
const SAVE_MS = 500;
const RETRY_MS = 1000;

export interface JournalOptions {
  readonly folder: string;
  readonly disk: Disk;
  readonly lock: ProcessLock;
  readonly clock: Clock;
}

interface Save {
  readonly asked: NewEntry;
  readonly resolve: (entry: JournalEntry) => void;
  readonly reject: (error: StorageFailure) => void;
  readonly timer: Timer;
  /**
   * True while the line of a refused save may still be in the file, so that a restart could put it into
   * force.
   */
  mayRemain: boolean;
  /** Whether the caller was answered before the disk was done. */
  abandoned: boolean;
}

/**
 * Saved gains on disk, one line each, only ever appended to. A save that `append` confirmed survives a crash or a power
 * cut at any instant. After a failure the file is rewritten from the confirmed saves, at once and then every second until
 * the disk works.
 */
export class Journal {
  /** Emitted when the problem changes or ends, and when another file was set aside. */
  readonly changed = new Listeners<void>();
  readonly #options: JournalOptions;
  readonly #file: JournalFile;
  /** Undefined until the file was read. */
  #revisions: Revisions | undefined;
  readonly #saves: Save[] = [];
  #compactedAboveBytes = COMPACTED_ABOVE_BYTES;
  #problem: StorageFailure | undefined;
  #retry: Timer | undefined;
  /** The problem and the set-aside files that listeners of `changed` were last told about. */
  #reported = '';
  #closed = false;
  /**
   * True while the disk is still busy with a save that has timed out. Other saves are refused at once, so that none pile
   * up.
   */
  #isStuck = false;
  /** File operations happen one after the other. */
  readonly #work = new WorkQueue();

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#file = new JournalFile(options.folder, options.disk);
    this.#problem = this.#slow('open');
  }

  /** The confirmed revisions. Throws `storage-failed` while the file cannot be read. */
  get revisions(): Pick<Revisions, 'of' | 'newest'> {
    if (this.#revisions === undefined) throw this.#problem ?? this.#slow('read');
    return this.#revisions;
  }

  get problem(): StorageFailure | undefined {
    return this.#problem;
  }

  /** Names of the copies of damaged files. */
  get setAside(): readonly string[] {
    return this.#file.setAside;
  }

  /** Locks the folder, reads the file and repairs it. Never rejects: `problem` says what is wrong. */
  open(): Promise<void> {
    return this.#enqueue(() => this.#prepare());
  }

  /** Resolves with the entry and its number when it is on the disk. */
  append(asked: NewEntry): Promise<JournalEntry> {
    if (this.#isStuck) return Promise.reject(refusal(this.#slow('sync'), false));
    return new Promise((resolve, reject) => {
      const timer = this.#options.clock.after(SAVE_MS, () => {
        save.abandoned = true;
        this.#isStuck = true;
        this.#setProblem(this.#slow('sync'));
        this.#refuse([save], this.#slow('sync'));
      });
      const save: Save = { asked, resolve, reject, timer, mayRemain: false, abandoned: false };
      this.#saves.push(save);
      void this.#enqueue(() => this.#saveAll());
    });
  }

  /** Closes after all earlier calls. Later calls fail and touch no file. */
  async close(): Promise<void> {
    await this.#enqueue(async () => {
      this.#closed = true;
      await this.#file.close();
      await this.#options.lock.release();
    });
    this.#retry?.cancel();
  }

  /** Runs the act after all earlier ones. Never rejects. */
  #enqueue(act: () => Promise<unknown>): Promise<void> {
    return this.#work.add(async () => {
      const problem = await act().then(() => undefined, failureOf);
      this.#isStuck = false;
      this.#setProblem(problem);
    });
  }

  /**
   * Locks the folder and loads the file once. Afterwards the file at the path contains the confirmed saves
   * and nothing else.
   */
  async #prepare(): Promise<Revisions> {
    if (this.#closed) throw this.#file.failure('write', 'closed', 'Wait until the daemon has started again.');
    const { folder, disk, lock } = this.#options;
    await disk.makeFolder(folder);
    await lock.hold();
    this.#revisions ??= await this.#file.load();
    if (!(await this.#file.isReady())) await this.#file.replace(this.#revisions.parts());
    return this.#revisions;
  }

  /** Writes all waiting saves with one write and one sync. */
  async #saveAll(): Promise<void> {
    let saves: Save[] = [];
    let entries: JournalEntry[];
    try {
      const revisions = await this.#prepare();
      saves = this.#taken();
      entries = revisions.numbered(saves.map(({ asked }) => asked));
    } catch (error) {
      this.#refuse([...saves, ...this.#taken()], failureOf(error));
      throw error;
    }
    if (saves.length > 0) await this.#write(saves, entries);
    await this.#compactIfLarge();
  }

  async #write(saves: readonly Save[], entries: readonly JournalEntry[]): Promise<void> {
    for (const save of saves) save.mayRemain = true;
    try {
      await this.#file.append(journalBytes(entries.map(({ line }) => line)));
    } catch (error) {
      const failure = failureOf(error);
      this.#setProblem(failure);
      try {
        // If the disk works again, this removes every line of the refused saves.
        await this.#prepare();
        for (const save of saves) save.mayRemain = false;
      } finally {
        this.#refuse(saves, failure);
      }
      return;
    }
    this.#setProblem(undefined);
    for (const [index, save] of saves.entries()) {
      const entry = entries[index];
      if (entry === undefined || save.abandoned) continue;
      save.timer.cancel();
      this.#revisions?.add(entry);
      save.resolve(entry);
    }
    if (!saves.some(({ abandoned }) => abandoned)) return;
    this.#file.distrust();
    await this.#prepare();
  }

  /** Takes the waiting saves, without those whose callers have been answered. */
  #taken(): Save[] {
    return this.#saves.splice(0).filter(({ abandoned }) => !abandoned);
  }

  #refuse(saves: readonly Save[], failure: StorageFailure): void {
    for (const { timer, reject, mayRemain } of saves) {
      timer.cancel();
      reject(refusal(failure, mayRemain));
    }
  }

  async #compactIfLarge(): Promise<void> {
    if (this.#revisions === undefined || this.#file.bytes <= this.#compactedAboveBytes) return;
    this.#revisions.keepNewest(KEPT_OF_EACH_UNIT);
    await this.#file.replace(this.#revisions.parts());
    this.#compactedAboveBytes = Math.max(COMPACTED_ABOVE_BYTES, 2 * this.#file.bytes);
  }

  #setProblem(problem: StorageFailure | undefined): void {
    this.#problem = problem;
    this.#retry?.cancel();
    if (problem !== undefined && !this.#closed) {
      this.#retry = this.#options.clock.after(RETRY_MS, () => void this.open());
    }
    const reported = [problem?.message, ...this.setAside].join();
    if (reported === this.#reported) return;
    this.#reported = reported;
    this.changed.emit();
  }

  #slow(operation: Parameters<typeof tooSlow>[0]): StorageFailure {
    return tooSlow(operation, this.#file.path);
  }
}

function failureOf(error: unknown): StorageFailure {
  if (!isRobotError(error, 'state-in-use')) return storageFailure(error);
  const cure = 'End the other daemon that uses the state folder.';
  const context = { operation: 'lock', path: error.context.folder, errno: 'in use', cure };
  return new RobotError('storage-failed', context, { cause: error });
}
