import { type Clock, endedWithin } from '../core/clock.js';
import { isRobotError, RobotError, valueOr } from '../core/errors.js';
import type { Listeners } from '../core/listeners.js';
import {
  completeGains,
  defaultGains,
  type GainSet,
  perUnit,
  type UnitName,
  unitNamed,
} from '../core/units.js';
import type { HistoryLine } from '../schemas/history.js';
import type { StorageStatus } from '../schemas/status.js';
import { START_MS } from '../storage/disk.js';
import { PathLock } from '../storage/path-lock.js';
import { Journal, type JournalOptions } from './journal.js';
import type { JournalEntry, Origin } from './journal-line.js';

export interface SavedGains extends Origin {
  /** 0 before the first save. */
  readonly revision: number;
  readonly savedAt: string | null;
  readonly gains: GainSet;
}

type StoreOptions = Omit<JournalOptions, 'lock'> & Partial<JournalOptions>;

/**
 * The gains of each unit: the current ones, the earlier revisions, and saves of new ones. All come from the
 * journal.
 */
export class GainsStore {
  /** Emitted when the report has changed. */
  readonly changed: Listeners<void>;
  readonly #journal: Journal;
  readonly #clock: Clock;
  readonly #unsaved = perUnit(unit => ({ revision: 0, savedAt: null, gains: defaultGains(unit) }));
  /**
   * The object that is returned for each entry. An entry always gives the same object, because the checksum that
   * every poll compares is cached by object.
   */
  readonly #made = new WeakMap<JournalEntry, HistoryLine>();

  private constructor(options: StoreOptions) {
    this.#clock = options.clock;
    this.#journal = new Journal({ ...options, lock: options.lock ?? new PathLock(options.folder) });
    this.changed = this.#journal.changed;
  }

  /**
   * Rejects only with `state-in-use`. Failed storage is reported and retried every second. Does not wait long
   * for a slow disk, because the robot must be usable without it.
   */
  static async open(options: StoreOptions): Promise<GainsStore> {
    const store = new GainsStore(options);
    await endedWithin(options.clock, START_MS, store.#journal.open());
    const cause = store.#journal.problem?.cause;
    if (!isRobotError(cause, 'state-in-use')) return store;
    await store.close();
    throw cause;
  }

  /** Why gains cannot be saved or read. */
  get problem(): RobotError<'storage-failed'> | undefined {
    return this.#journal.problem;
  }

  /** Throws `storage-failed` while the journal cannot be read. */
  current(unit: UnitName): SavedGains {
    const newest = this.#journal.revisions.of(unit).at(-1);
    return newest === undefined ? this.#unsaved[unit] : this.#savedGains(unit, newest);
  }

  /** As `current`, but undefined while the journal cannot be read. */
  find(unit: UnitName): SavedGains | undefined {
    return valueOr(() => this.current(unit), undefined);
  }

  /** The gains of one revision; 0 is the defaults. Throws `unknown-revision`. */
  revision(unit: UnitName, revision: number): SavedGains {
    if (revision === 0) return this.#unsaved[unit];
    const entry = this.#journal.revisions.of(unit).findLast(one => one.revision === revision);
    if (entry === undefined) throw new RobotError('unknown-revision', { unit, revision });
    return this.#savedGains(unit, entry);
  }

  /** The gains that were in force before this revision. */
  before(unit: UnitName, revision: number): SavedGains {
    const entry = this.#journal.revisions.of(unit).findLast(one => one.revision < revision);
    return entry === undefined ? this.#unsaved[unit] : this.#savedGains(unit, entry);
  }

  /** The last `limit` saves, newest first. */
  history(unit: UnitName, limit: number): readonly HistoryLine[] {
    const newest = this.#journal.revisions.of(unit).slice(-limit).reverse();
    return newest.map(entry => this.#savedGains(unit, entry));
  }

  /**
   * Resolves when the gains are on the disk. Rejects with `storage-failed`: with `mayRemain` the gains may be in force after a
   * restart, otherwise nothing has changed.
   */
  async save(unit: UnitName, gains: GainSet, { by, profile }: Origin = {}): Promise<SavedGains> {
    const time = this.#clock.wallTime().toISOString();
    return this.#savedGains(unit, await this.#journal.append({ time, unit, gains, by, profile }));
  }

  report(): StorageStatus {
    const { problem, setAside } = this.#journal;
    if (problem === undefined) return { ok: true, setAside };
    const { operation, path, errno, cure } = problem.context;
    const detail = `Cannot ${operation} ${path}: ${errno}.`;
    return { ok: false, detail, cure, setAside };
  }

  /** Resolves when all pending saves have ended. */
  close(): Promise<void> {
    return this.#journal.close();
  }

  #savedGains(unit: UnitName, entry: JournalEntry): HistoryLine {
    const made = this.#made.get(entry);
    if (made !== undefined) return made;
    const { revision, time: savedAt, by, profile } = entry;
    const saved = { revision, savedAt, gains: completeGains(unitNamed(unit), entry.gains), by, profile };
    this.#made.set(entry, saved);
    return saved;
  }
}
