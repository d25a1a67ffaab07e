import { RobotError } from '../core/errors.js';
import { type JournalEntry, journalBytes, journalEntry, MAX_REVISION } from './journal-line.js';

/** A save that has no revision yet. */
export type NewEntry = Omit<JournalEntry, 'revision' | 'line'>;

const LINES_AT_ONCE = 1000;

/** The saved gains by unit, each unit's oldest first. */
export class Revisions {
  readonly #byUnit = new Map<string, JournalEntry[]>();

  of(unit: string): readonly JournalEntry[] {
    return this.#byUnit.get(unit) ?? [];
  }

  /** The newest revision of the unit; 0 before the first. */
  newest(unit: string): number {
    return this.of(unit).at(-1)?.revision ?? 0;
  }

  /**
   * Gives saves the next numbers of their units. The saves take effect only when they are passed to `add`.
   */
  numbered(asked: readonly NewEntry[]): JournalEntry[] {
    const newest = new Map<string, number>();
    return asked.map(one => {
      const revision = (newest.get(one.unit) ?? this.newest(one.unit)) + 1;
      if (revision > MAX_REVISION) {
        const path = `a revision of ${one.unit} after ${MAX_REVISION}`;
        const cure = 'Nobody saved that often: move the journal away to begin anew.';
        throw new RobotError('storage-failed', { operation: 'write', path, errno: 'no number left', cure });
      }
      newest.set(one.unit, revision);
      return journalEntry({ ...one, revision });
    });
  }

  /** The entries of a file may come in any order. Call `order` after the last one. */
  add(entry: JournalEntry): void {
    const found = this.#byUnit.get(entry.unit);
    if (found === undefined) this.#byUnit.set(entry.unit, [entry]);
    else found.push(entry);
  }

  /** Sorts the entries. If two have the same number, the later one counts. Returns whether there were such entries. */
  order(): boolean {
    let repeated = false;
    for (const [unit, found] of this.#byUnit) {
      const byNumber = new Map(found.map(entry => [entry.revision, entry]));
      const ordered = [...byNumber.values()].sort((a, b) => a.revision - b.revision);
      this.#byUnit.set(unit, ordered);
      repeated ||= ordered.length < found.length;
    }
    return repeated;
  }

  keepNewest(count: number): void {
    for (const [unit, found] of this.#byUnit) this.#byUnit.set(unit, found.slice(-count));
  }

  /** The content of a file with all revisions, in parts that are made on demand. */
  *parts(): Iterable<Buffer> {
    const lines = [...this.#byUnit.values()].flat().map(({ line }) => line);
    for (let start = 0; start < lines.length; start += LINES_AT_ONCE) {
      yield journalBytes(lines.slice(start, start + LINES_AT_ONCE));
    }
  }
}
