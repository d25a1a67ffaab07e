import { join } from 'node:path';
import { type Clock, endedWithin, type Timer } from '../core/clock.js';
import { valueOr } from '../core/errors.js';
import { Listeners } from '../core/listeners.js';
import { WorkQueue } from '../core/work-queue.js';
import { type Disk, type StorageFailure, storageFailure, tooSlow } from './disk.js';
import { damagedCopy, putInPlace, replaceFile } from './durable-file.js';

/** The pause between two attempts to write the newest value into the file. */
const MEND_MS = 1000;

/** The things that every file of the state folder needs. */
export interface StateParts {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly folder: string;
  /** Called with the path of the copy of a file that was damaged, or was read too late and is now replaced. */
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
   * The value if the file is damaged or cannot be read in time. If undefined, a failed read rejects and is repeated
   * every second, and a damaged file counts as absent.
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
 *
 * Files that share a queue keep at most one thread busy.
 */
export function stateFile<T>(parts: StateParts, content: Content<T>, queue = new WorkQueue()) {
  const { disk, clock, folder } = parts;
  const { absent, failSafe } = content;
  const path = join(folder, content.name);
  const changed = new Listeners<void>();
  let held: Held<T> | undefined;
  /** The value saved last; undefined before the first save. */
  let wanted: Held<T> | undefined;
  /** The value that a restart would find; undefined if unknown. */
  let onMedium: Held<T> | undefined;
  /** False after a file was found: a killed process may have left a rename that is not synced. */
  let isSynced = false;
  let work: Promise<void> = Promise.resolve();
  let isStuck = false;
  let mending: Timer | undefined;
  let problem: StorageFailure | undefined;

  const setProblem = (now: StorageFailure | undefined) => {
    if (now === problem) return;
    problem = now;
    changed.emit();
  };
  const write = async (): Promise<void> => {
    const newest = wanted ?? onMedium;
    if (newest === undefined) return;
    if (newest.value === onMedium?.value && (isSynced || wanted === undefined)) return setProblem(undefined);
    const before = onMedium;
    onMedium = undefined;
    const { value } = newest;
    const bytes = Buffer.from(content.encode(value));
    try {
      if (late !== undefined) await keepCopy(late);
      late = undefined;
      await putInPlace(disk, path, [bytes]).catch(error => {
        // The path still leads to the old file.
        onMedium = before;
        throw error;
      });
      await disk.syncFolder(folder);
      onMedium = { value, bytes };
      isSynced = true;
    } catch (error) {
      return setProblem(storageFailure(error));
    }
    // A newer value may have been saved during the write.
    await write();
  };
  const decoded = (bytes: Buffer): Held<T> | undefined =>
    valueOr(() => ({ value: content.decode(bytes.toString()), bytes }), undefined);
  /** What a file says that was read too late. */
  let late: Buffer | undefined;
  const keepCopy = async (bytes: Buffer) => {
    const copy = damagedCopy(path, bytes);
    await replaceFile(disk, copy, [bytes]);
    parts.setAside?.(copy);
  };
  const setAside = async (bytes: Buffer) => {
    if (failSafe === undefined) {
      const copy = damagedCopy(path, bytes);
      await disk.rename(path, copy);
      held ??= { value: absent };
      parts.setAside?.(copy);
    } else {
      // The damaged file stays in place, so that a restart finds it too.
      const damaged = { value: failSafe('damaged'), bytes };
      held = damaged;
      await keepCopy(bytes);
      // A newer value may have been saved during the copy.
      onMedium = damaged;
    }
  };
  const take = async (bytes: Buffer | undefined) => {
    const found = bytes === undefined ? { value: absent } : decoded(bytes);
    isSynced = bytes === undefined;
    if (found !== undefined) held = onMedium = found;
    else if (bytes !== undefined) await setAside(bytes);
    problem = undefined;
    changed.emit();
  };
  const readAndWrite = async () => {
    try {
      // Without a fail-safe value, a missing folder counts as empty.
      if (failSafe === undefined) await disk.makeFolder(folder);
      const bytes = await disk.read(path);
      // A file that already counts as unreadable keeps its fail-safe value.
      if (held === undefined) await take(bytes);
      else late = bytes;
    } catch (error) {
      setProblem(storageFailure(error));
    }
    await write();
  };
  /**
   * Whether the path no longer leads to this program's file, for example because its folder was moved or restored. A file
   * that could not be read, and is certainly missing now, counts too: a restart must find the fail-safe value.
   */
  const isReplaced = async () => {
    if (onMedium === undefined && wanted === undefined)
      return (await disk.read(path).catch(() => 'unknown')) === undefined;
    const bytes = onMedium?.bytes;
    return bytes !== undefined && !(await disk.read(path))?.equals(bytes);
  };
  const mend = async () => {
    if (held === undefined) return readAndWrite();
    if (await isReplaced().catch(() => true)) {
      onMedium = undefined;
      wanted = held;
    }
    await write();
  };
  const begin = (act: () => Promise<void>) => {
    mending?.cancel();
    work = queue.add(act).then(() => {
      isStuck = false;
      if (problem === undefined && failSafe === undefined) return;
      mending?.cancel();
      mending = clock.after(MEND_MS, () => begin(mend));
    });
  };
  /** Starts the work unless the disk is stuck. Resolves with false if it takes longer than `limitMs`. */
  const done = async (limitMs: number, act: () => Promise<void>) => {
    if (!isStuck) begin(act);
    isStuck = !(await endedWithin(clock, limitMs, work));
    return !isStuck;
  };
  return {
    /** Emitted when the file was read, and when the problem changes. */
    changed,
    /** The newest value, synced or not. Undefined before the file was read. */
    get value(): T | undefined {
      return held?.value;
    },
    /** Why the file cannot be read, or why the disk does not have the newest value. */
    get problem() {
      return problem;
    },
    /** True while the disk is busy with work whose caller has timed out. No more work is added then. */
    get isStuck() {
      return isStuck;
    },
    /**
     * Reads the file. Waits for the disk no longer than `limitMs`. Rejects with `storage-failed` if there is no
     * fail-safe value.
     */
    read: async (limitMs: number): Promise<T> => {
      const isInTime = held !== undefined || (await done(limitMs, readAndWrite));
      if (held !== undefined) return held.value;
      const failure = (isInTime ? problem : undefined) ?? tooSlow('read', path);
      if (failSafe === undefined) throw failure;
      held = { value: failSafe('unreadable') };
      setProblem(failure);
      return held.value;
    },
    /**
     * Resolves when this value or a newer one is synced. Rejects with `storage-failed` after a failure or a timeout;
     * the write is then retried.
     */
    save: async (value: T, limitMs: number): Promise<void> => {
      held = wanted = { value };
      if (onMedium?.value === value && isSynced) return setProblem(undefined);
      const isInTime = await done(limitMs, write);
      if (!isInTime && onMedium?.value !== wanted.value) setProblem(tooSlow('write', path));
      if (problem !== undefined) throw problem;
    },
    /** Resolves when all work has ended. */
    close: async (): Promise<void> => {
      await work;
      mending?.cancel();
    },
  };
}

export type StateFile<T> = ReturnType<typeof stateFile<T>>;
