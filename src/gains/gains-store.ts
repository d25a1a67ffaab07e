import type { Clock } from '../core/clock.js';
import { isRobotError, RobotError } from '../core/errors.js';
import { defaultGains, type GainSet, perUnit, type UnitName, unitNamed } from '../core/units.js';
import type { Disk } from '../storage/disk.js';
import { lockState, type StateLock } from '../storage/state-lock.js';
import { Journal } from './journal.js';
import type { JournalEntry } from './journal-line.js';

export interface SavedGains {
  /** 0 before the first save. */
  readonly revision: number;
  readonly savedAt: string | null;
  readonly gains: GainSet;
}

export interface StorageReport {
  readonly ok: boolean;
  readonly detail?: string;
  readonly cure?: string | undefined;
  /** Copies of damaged journals in the state folder. */
  readonly setAside: readonly string[];
}

/** How long a start waits for the disk. */
const OPEN_MS = 2000;

/** The gains of each unit: those in force, those before, and saving new ones. The journal is the only truth. */
export class GainsStore {
  readonly #journal: Journal;
  readonly #disk: Disk;
  readonly #clock: Clock;
  readonly #defaults = perUnit(unit => ({ revision: 0, savedAt: null, gains: defaultGains(unit) }));
  readonly #folder: string;
  /** Without it the journal is not touched. */
  #lock: StateLock | undefined;
  /** Why the journal is not open; undefined when it is. */
  #notOpen: RobotError<'storage-failed' | 'state-in-use'> | undefined;
  #opening: Promise<void> | undefined;
  /** Of the journal's entries when there were so many. */
  #index: {
    entries: readonly JournalEntry[];
    length: number;
    byUnit: Record<UnitName, readonly JournalEntry[]>;
  };

  private constructor({ folder, disk, clock }: { folder: string; disk: Disk; clock: Clock }) {
    this.#folder = folder;
    this.#disk = disk;
    this.#clock = clock;
    this.#journal = new Journal({ folder, disk, clock });
    const cure = 'The disk is too slow: check it.';
    this.#notOpen = new RobotError('storage-failed', {
      operation: 'open',
      path: folder,
      errno: 'slow',
      cure,
    });
    this.#index = { entries: [], length: 0, byUnit: perUnit(() => []) };
  }

  /**
   * Rejects with `state-in-use` only; storage that fails is told by `report` and tried again. A disk that is too slow
   * is not waited for: the robot has to be served meanwhile.
   */
  static async open(options: { folder: string; clock: Clock; disk: Disk }): Promise<GainsStore> {
    const store = new GainsStore(options);
    await new Promise<void>(resolve => {
      const limit = store.#clock.after(OPEN_MS, resolve);
      void store.retry().then(() => {
        limit.cancel();
        resolve();
      });
    });
    if (isRobotError(store.#notOpen, 'state-in-use')) throw store.#notOpen;
    return store;
  }

  /** Throws `storage-failed` while the journal cannot be read. */
  current(unit: UnitName): SavedGains {
    const newest = this.#entriesOf(unit)[0];
    return newest === undefined ? this.#defaults[unit] : savedGains(unit, newest);
  }

  /** Throws `unknown-revision`. */
  revision(unit: UnitName, revision: number): SavedGains {
    const entry = this.#entriesOf(unit).find(one => one.revision === revision);
    if (entry === undefined) throw new RobotError('unknown-revision', { unit, revision });
    return savedGains(unit, entry);
  }

  /** Newest first. */
  history(unit: UnitName, limit: number): readonly SavedGains[] {
    return this.#entriesOf(unit)
      .slice(0, limit)
      .map(entry => savedGains(unit, entry));
  }

  /** On the disk when it resolves; else rejects with `storage-failed` and nothing has changed. */
  async save(unit: UnitName, gains: GainSet): Promise<SavedGains> {
    if (this.#notOpen !== undefined) throw this.#unlocked(this.#notOpen);
    const time = this.#clock.wallTime().toISOString();
    return savedGains(unit, await this.#journal.append({ time, unit, gains }));
  }

  /** Opens what could not be opened. Never rejects. */
  retry(): Promise<void> {
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #open(): Promise<void> {
    try {
      if (this.#lock === undefined) {
        await this.#disk.makeFolder(this.#folder);
        this.#lock = await lockState(this.#folder);
      }
    } catch (error) {
      this.#notOpen = isRobotError(error, 'storage-failed', 'state-in-use')
        ? error
        : new RobotError('storage-failed', { operation: 'lock', path: this.#folder }, { cause: error });
      return;
    }
    await this.#journal.open();
    this.#notOpen = undefined;
  }

  /** The lock's problem as callers after `open` get it. */
  #unlocked(problem: RobotError): RobotError<'storage-failed'> {
    if (isRobotError(problem, 'storage-failed')) return problem;
    const cure = 'End the other daemon that uses the state folder.';
    const context = { operation: 'lock', path: this.#folder, errno: 'in use', cure };
    return new RobotError('storage-failed', context, { cause: problem });
  }

  report(): StorageReport {
    const { setAside } = this.#journal;
    const problem = this.#notOpen === undefined ? this.#journal.problem : this.#unlocked(this.#notOpen);
    if (problem === undefined) return { ok: true, setAside };
    const { operation, path, errno, cure } = problem.context;
    return { ok: false, detail: `cannot ${operation} ${path}: ${errno}`, cure, setAside };
  }

  async close(): Promise<void> {
    await this.#journal.close();
    await this.#lock?.release();
  }

  #entriesOf(unit: UnitName): readonly JournalEntry[] {
    if (this.#notOpen !== undefined) throw this.#unlocked(this.#notOpen);
    const { entries } = this.#journal;
    if (this.#index.entries !== entries || this.#index.length !== entries.length) {
      const byUnit = perUnit(({ name }) => newestFirst(entries.filter(entry => entry.unit === name)));
      this.#index = { entries, length: entries.length, byUnit };
    }
    return this.#index.byUnit[unit];
  }
}

/** Of two with the same number the later line counts. */
function newestFirst(entries: readonly JournalEntry[]): readonly JournalEntry[] {
  const byRevision = new Map(entries.map(entry => [entry.revision, entry]));
  return [...byRevision.values()].sort((a, b) => b.revision - a.revision);
}

/** With the defaults for loops that the line does not have, and without those that nobody knows any more. */
function savedGains(unit: UnitName, { revision, time, gains }: JournalEntry): SavedGains {
  const { loops } = unitNamed(unit);
  const complete: GainSet = Object.fromEntries(
    loops.map(loop => [loop.name, gains[loop.name] ?? loop.defaults]),
  );
  return { revision, savedAt: time, gains: complete };
}
