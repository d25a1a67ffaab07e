import { join } from 'node:path';
import { type Clock, endedWithin, type Timer } from '../core/clock.js';
import { Listeners } from '../core/listeners.js';
import { type Disk, type StorageFailure, storageFailure, tooSlow } from './disk.js';
import { damagedCopy, putInPlace, replaceFile } from './durable-file.js';

/** The pause between two attempts to bring the file to the newest value. */
const MEND_MS = 1000;

/** The things that every file of the state folder needs. */
export interface StateParts {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly folder: string;
  /** Called with the path of the copy of a damaged file. */
  readonly setAside?: (copy: string) => void;
}

/** The content of a file, and its format. */
export interface Content<T> {
  readonly name: string;
  encode(value: T): string;
  /** Throws if the text is damaged. */
  decode(text: string): T;
  /** The value while there is no file. */
  readonly absent: T;
  /**
   * The value if the file is damaged or cannot be read in time. If undefined, a failed read rejects and may be
   * retried, and a damaged file counts as absent.
   */
  readonly failSafe?: (why: 'unreadable' | 'damaged') => T;
}

interface Held<T> {
  readonly value: T;
  /** The content that was read from or written to the file. Undefined if the value does not come from a file. */
  readonly bytes?: Buffer;
}

/**
 * A small file that holds the newest value. After a power cut it has the last confirmed value or a newer one. A
 * failed write is retried until the newest value is synced. If a file with a fail-safe value is removed or replaced,
 * it is written again, because a restart would believe the wrong content.
 */
export class StateFile<T> {
  /** Emitted when the file was read, and when the problem changes. */
  readonly changed = new Listeners<void>();
  readonly #parts: StateParts;
  readonly #content: Content<T>;
  readonly #path: string;
  readonly #queue: WorkQueue;
  #held: Held<T> | undefined;
  /** The value saved last; undefined before the first save. */
  #wanted: Held<T> | undefined;
  /** The value that a restart would find; undefined if unknown. */
  #onMedium: Held<T> | undefined;
  #work: Promise<void> = Promise.resolve();
  #isStuck = false;
  #mending: Timer | undefined;
  #problem: StorageFailure | undefined;

  /** Files that share a queue keep at most one thread busy. */
  constructor(parts: StateParts, content: Content<T>, queue = new WorkQueue()) {
    this.#parts = parts;
    this.#content = content;
    this.#path = join(parts.folder, content.name);
    this.#queue = queue;
  }

  /** The newest value, synced or not. Undefined before the file was read. */
  get value(): T | undefined {
    return this.#held?.value;
  }

  /** Why the file cannot be read, or why the disk does not have the newest value. */
  get problem(): StorageFailure | undefined {
    return this.#problem;
  }

  /** True while the disk is busy with work whose caller has timed out. No more work is added then. */
  get isStuck(): boolean {
    return this.#isStuck;
  }

  /**
   * Reads the file. Waits for the disk no longer than `limitMs`. Rejects with `storage-failed` if there is no
   * fail-safe value.
   */
  async read(limitMs: number): Promise<T> {
    const { failSafe } = this.#content;
    const isInTime = this.#held !== undefined || (await this.#done(limitMs, () => this.#read()));
    if (this.#held !== undefined) return this.#held.value;
    const failure = (isInTime ? this.#problem : undefined) ?? tooSlow('read', this.#path);
    if (failSafe === undefined) throw failure;
    this.#held = { value: failSafe('unreadable') };
    this.#setProblem(failure);
    return this.#held.value;
  }

  /**
   * Resolves when this value or a newer one is synced. Rejects with `storage-failed` after a failure or a timeout;
   * the write is then retried.
   */
  async save(value: T, limitMs: number): Promise<void> {
    this.#held = this.#wanted = { value };
    if (this.#onMedium?.value === value) return this.#setProblem(undefined);
    const isInTime = await this.#done(limitMs, () => this.#write());
    if (!isInTime && this.#onMedium?.value !== this.#wanted.value)
      this.#setProblem(tooSlow('write', this.#path));
    if (this.#problem !== undefined) throw this.#problem;
  }

  /** Resolves when all work has ended. */
  async close(): Promise<void> {
    await this.#work;
    this.#mending?.cancel();
  }

  /** Does the work. Resolves with false if it takes too long. */
  async #done(limitMs: number, work: () => Promise<void>): Promise<boolean> {
    if (!this.#isStuck) this.#begin(work);
    this.#isStuck = !(await endedWithin(this.#parts.clock, limitMs, this.#work));
    return !this.#isStuck;
  }

  #begin(work: () => Promise<void>): void {
    this.#mending?.cancel();
    this.#work = this.#queue.add(work).then(() => {
      this.#isStuck = false;
      if (this.#problem === undefined && this.#content.failSafe === undefined) return;
      this.#mending?.cancel();
      this.#mending = this.#parts.clock.after(MEND_MS, () => this.#begin(() => this.#mend()));
    });
  }

  async #read(): Promise<void> {
    const { disk, folder } = this.#parts;
    try {
      // Without a fail-safe value, a missing folder counts as empty.
      if (this.#content.failSafe === undefined) await disk.makeFolder(folder);
      const bytes = await disk.read(this.#path);
      // A file that already counts as unreadable keeps its fail-safe value.
      if (this.#held === undefined) await this.#take(bytes);
    } catch (error) {
      this.#setProblem(storageFailure(error));
    }
    await this.#write();
  }

  async #take(bytes: Buffer | undefined): Promise<void> {
    const { absent, failSafe } = this.#content;
    const found = bytes === undefined ? { value: absent } : this.#decoded(bytes);
    if (found !== undefined) this.#held = this.#onMedium = found;
    else if (bytes !== undefined) {
      if (failSafe !== undefined) this.#held = { value: failSafe('damaged'), bytes };
      await this.#putAside(bytes);
      // With a fail-safe value the damaged file stays in place, so that a restart finds it too.
      if (failSafe !== undefined) this.#onMedium = this.#held;
      this.#held ??= { value: absent };
    }
    this.#problem = undefined;
    this.changed.emit();
  }

  #decoded(bytes: Buffer): Held<T> | undefined {
    try {
      return { value: this.#content.decode(bytes.toString()), bytes };
    } catch {
      return undefined;
    }
  }

  async #putAside(bytes: Buffer): Promise<void> {
    const { disk, setAside } = this.#parts;
    const copy = damagedCopy(this.#path, bytes);
    if (this.#content.failSafe === undefined) await disk.rename(this.#path, copy);
    else await replaceFile(disk, copy, [bytes]);
    setAside?.(copy);
  }

  async #mend(): Promise<void> {
    const isUnknown = await this.#isReplaced().catch(() => true);
    if (isUnknown) {
      this.#onMedium = undefined;
      this.#wanted = this.#held;
    }
    await this.#write();
  }

  /** Whether the path no longer leads to this program's file, for example because its folder was moved or restored. */
  async #isReplaced(): Promise<boolean> {
    const bytes = this.#onMedium?.bytes;
    return bytes !== undefined && !(await this.#parts.disk.read(this.#path))?.equals(bytes);
  }

  async #write(): Promise<void> {
    const wanted = this.#wanted ?? this.#onMedium;
    if (wanted === undefined) return;
    if (wanted.value === this.#onMedium?.value) return this.#setProblem(undefined);
    const { disk, folder } = this.#parts;
    const before = this.#onMedium;
    this.#onMedium = undefined;
    const { value } = wanted;
    const bytes = Buffer.from(this.#content.encode(value));
    try {
      await putInPlace(disk, this.#path, [bytes]).catch(error => {
        // The path still leads to the old file.
        this.#onMedium = before;
        throw error;
      });
      await disk.syncFolder(folder);
      this.#onMedium = { value, bytes };
    } catch (error) {
      return this.#setProblem(storageFailure(error));
    }
    // A newer value may have been saved during the write.
    await this.#write();
  }

  #setProblem(problem: StorageFailure | undefined): void {
    if (problem === this.#problem) return;
    this.#problem = problem;
    this.changed.emit();
  }
}

/** Runs one operation at a time, so that a hanging disk blocks only one thread. */
export class WorkQueue {
  #last: Promise<void> = Promise.resolve();

  /** Runs the work after all earlier work. Resolves when it has ended. */
  add(work: () => Promise<void>): Promise<void> {
    this.#last = this.#last.then(work, work);
    return this.#last;
  }
}
