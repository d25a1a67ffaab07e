import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Clock, Timer } from '../core/clock.js';
import { isRobotError, RobotError } from '../core/errors.js';
import type { Disk, DiskFile } from '../storage/disk.js';
import { replaceFile } from '../storage/durable-file.js';
import { encodeEntry, type JournalEntry, parseJournal } from './journal-line.js';

export const JOURNAL_FILE = 'gains.jsonl';
const COMPACTED_ABOVE_BYTES = 4 << 20;
const KEPT_OF_EACH_UNIT = 2000;
/** A save that the disk has not confirmed by then has failed for its caller. */
const SAVE_MS = 500;

interface Pending {
  readonly entry: Omit<JournalEntry, 'revision'>;
  readonly resolve: (entry: JournalEntry) => void;
  readonly reject: (error: RobotError) => void;
  readonly timer: Timer;
  abandoned: boolean;
}

/**
 * Saved gains on disk, one line each, only ever appended to. What `append` resolved with survives a crash or a power
 * cut at any instant. After a failure the file is written anew from what was confirmed, before anything else is.
 */
export class Journal {
  readonly #folder: string;
  readonly #path: string;
  readonly #disk: Disk;
  readonly #clock: Clock;
  #entries: JournalEntry[] = [];
  readonly #setAside = new Set<string>();
  readonly #pending: Pending[] = [];
  /** Open while the file on disk is exactly the confirmed entries. */
  #file: DiskFile | undefined;
  #bytes = 0;
  #compactedAboveBytes = COMPACTED_ABOVE_BYTES;
  #read = false;
  #damagedBytes: Buffer | undefined;
  #problem: RobotError<'storage-failed'> | undefined;
  #closed = false;
  /** File operations happen one after the other on this chain. */
  #work: Promise<void> = Promise.resolve();

  constructor(options: { folder: string; disk: Disk; clock: Clock }) {
    this.#folder = options.folder;
    this.#path = join(options.folder, JOURNAL_FILE);
    this.#disk = options.disk;
    this.#clock = options.clock;
  }

  /** The confirmed ones in the order of their lines. Throws `storage-failed` while the file cannot be read. */
  get entries(): readonly JournalEntry[] {
    if (!this.#read) throw this.#problem ?? new RobotError('storage-failed', { path: this.#path });
    return this.#entries;
  }

  get problem(): RobotError<'storage-failed'> | undefined {
    return this.#problem;
  }

  /** Names of the copies of damaged files. */
  get setAside(): readonly string[] {
    return [...this.#setAside].sort();
  }

  /** Reads and mends the file. Never rejects: `problem` tells. */
  open(): Promise<void> {
    return this.#enqueue(() => this.#prepare()).catch(() => undefined);
  }

  /** Resolves with the entry and its number when it is on the disk. */
  append(entry: Omit<JournalEntry, 'revision'>): Promise<JournalEntry> {
    return new Promise((resolve, reject) => {
      const pending: Pending = {
        entry,
        resolve,
        reject,
        abandoned: false,
        timer: this.#clock.after(SAVE_MS, () => {
          pending.abandoned = true;
          this.#problem = this.#failure('sync', 'slow', 'The disk is too slow: check it.');
          reject(this.#problem);
        }),
      };
      this.#pending.push(pending);
      this.#enqueue(() => this.#flush()).catch(() => undefined);
    });
  }

  /** After what was asked before it. What is asked later fails, and touches no file. */
  async close(): Promise<void> {
    await this.#enqueue(async () => {
      this.#closed = true;
      await this.#file?.close();
      this.#file = undefined;
    }).catch(() => undefined);
  }

  #failure(operation: string, errno: string, cure: string): RobotError<'storage-failed'> {
    return new RobotError('storage-failed', { operation, path: this.#path, errno, cure });
  }

  #enqueue(act: () => Promise<void>): Promise<void> {
    const done = this.#work.then(act).then(
      () => {
        this.#problem = undefined;
      },
      error => {
        this.#problem = asStorageError(error);
        throw this.#problem;
      },
    );
    this.#work = done.catch(() => undefined);
    return done;
  }

  async #prepare(): Promise<void> {
    if (this.#closed) throw this.#failure('write', 'closed', 'Wait until the daemon has started again.');
    if (!this.#read) await this.#load();
    if (this.#file === undefined || (await this.#file.isGone())) await this.#rewrite();
  }

  async #load(): Promise<void> {
    await this.#disk.makeFolder(this.#folder);
    const bytes = await this.#disk.read(this.#path);
    const { entries, damaged } = parseJournal(bytes ?? Buffer.alloc(0));
    for (const name of await this.#disk.list(this.#folder)) if (isSetAside(name)) this.#setAside.add(name);
    this.#entries = [...entries];
    this.#read = true;
    if (damaged) this.#damagedBytes = bytes;
    else if (bytes !== undefined) {
      // A process that was killed may have left a rename that the medium does not have yet.
      await this.#disk.syncFolder(this.#folder);
      this.#file = await this.#disk.openToAppend(this.#path);
      this.#bytes = bytes.length;
    }
  }

  /** All that wait share one write and one sync. */
  async #flush(): Promise<void> {
    let batch: readonly Pending[] = this.#pending;
    try {
      await this.#prepare();
      batch = this.#pending.splice(0).filter(({ abandoned }) => !abandoned);
      if (batch.length > 0) await this.#write(batch);
      if (batch.some(({ abandoned }) => abandoned)) await this.#rewrite();
      if (this.#bytes > this.#compactedAboveBytes) await this.#compact();
    } catch (error) {
      this.#problem = asStorageError(error);
      for (const { timer, reject } of batch) {
        timer.cancel();
        reject(this.#problem);
      }
      if (batch === this.#pending) this.#pending.length = 0;
      throw error;
    }
  }

  async #write(batch: readonly Pending[]): Promise<void> {
    const file = this.#file;
    if (file === undefined) return;
    this.#file = undefined;
    try {
      const entries = this.#numbered(batch);
      const lines = Buffer.from(entries.map(encodeEntry).join(''));
      await file.append(lines);
      await file.sync();
      this.#bytes += lines.length;
      this.#confirm(batch, entries);
      this.#file = file;
    } finally {
      if (this.#file === undefined) await file.close().catch(() => undefined);
    }
  }

  #numbered(batch: readonly Pending[]): JournalEntry[] {
    const newest = new Map<string, number>();
    for (const { unit, revision } of this.#entries) {
      newest.set(unit, Math.max(revision, newest.get(unit) ?? 0));
    }
    return batch.map(({ entry }) => {
      const revision = (newest.get(entry.unit) ?? 0) + 1;
      newest.set(entry.unit, revision);
      return { ...entry, revision };
    });
  }

  #confirm(batch: readonly Pending[], entries: readonly JournalEntry[]): void {
    batch.forEach((pending, index) => {
      const entry = entries[index];
      if (pending.abandoned || entry === undefined) return;
      pending.timer.cancel();
      this.#entries.push(entry);
      pending.resolve(entry);
    });
  }

  async #compact(): Promise<void> {
    const counts = new Map<string, number>();
    const newestFirst = this.#entries.toReversed().sort((a, b) => b.revision - a.revision);
    const kept = newestFirst.filter(({ unit }) => {
      const count = (counts.get(unit) ?? 0) + 1;
      counts.set(unit, count);
      return count <= KEPT_OF_EACH_UNIT;
    });
    this.#entries = kept.reverse();
    await this.#rewrite();
    this.#compactedAboveBytes = Math.max(COMPACTED_ABOVE_BYTES, 2 * this.#bytes);
  }

  /** The old file stays whole until the new one is; what was damaged in it is kept beside first. */
  async #rewrite(): Promise<void> {
    const old = this.#file;
    this.#file = undefined;
    await old?.close();
    await this.#keepDamaged();
    const bytes = Buffer.from(this.#entries.map(encodeEntry).join(''));
    await replaceFile(this.#disk, this.#path, bytes);
    this.#file = await this.#disk.openToAppend(this.#path);
    this.#bytes = bytes.length;
  }

  /** Named by content, so that the same damage is kept once. */
  async #keepDamaged(): Promise<void> {
    if (this.#damagedBytes === undefined) return;
    const hash = createHash('sha256').update(this.#damagedBytes).digest('hex');
    const name = `${JOURNAL_FILE}.damaged-${hash.slice(0, 16)}`;
    if (!this.#setAside.has(name))
      await replaceFile(this.#disk, join(this.#folder, name), this.#damagedBytes);
    this.#setAside.add(name);
    this.#damagedBytes = undefined;
  }
}

function asStorageError(error: unknown): RobotError<'storage-failed'> {
  return isRobotError(error, 'storage-failed')
    ? error
    : new RobotError('storage-failed', {}, { cause: error });
}

function isSetAside(name: string): boolean {
  return name.startsWith(`${JOURNAL_FILE}.damaged-`) && !name.endsWith('.new');
}
