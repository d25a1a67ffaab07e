import { RobotError } from '../core/errors.js';
import { type JournalEntry, journalEntry, MAX_REVISION } from './journal-line.js';

/** A save that has no number yet. */
export type Asked = Pick<JournalEntry, 'time' | 'unit' | 'gains'>;

const LINES_AT_ONCE = 4000;

/** What was saved, by unit, each unit's oldest first. */
export class Revisions {
  readonly #byUnit = new Map<string, JournalEntry[]>();

  /** In any order. Of two with the same number the later one counts. */
  constructor(entries: readonly JournalEntry[] = []) {
    for (const entry of entries) this.add(entry);
    for (const [unit, found] of this.#byUnit) {
      const byNumber = new Map(found.map(entry => [entry.revision, entry]));
      this.#byUnit.set(
        unit,
        [...byNumber.values()].sort((a, b) => a.revision - b.revision),
      );
    }
  }

  of(unit: string): readonly JournalEntry[] {
    return this.#byUnit.get(unit) ?? [];
  }

  /** 0 before the first. */
  newest(unit: string): number {
    return this.of(unit).at(-1)?.revision ?? 0;
  }

  /** What was asked, with the next numbers of its units. They count when they are added. */
  numbered(asked: readonly Asked[]): JournalEntry[] {
    const newest = new Map<string, number>();
    return asked.map(one => {
      const revision = (newest.get(one.unit) ?? this.newest(one.unit)) + 1;
      if (revision > MAX_REVISION) throw noNumberLeft(one.unit);
      newest.set(one.unit, revision);
      return journalEntry({ ...one, revision });
    });
  }

  /** One with a higher number than the unit has yet. */
  add(entry: JournalEntry): void {
    const found = this.#byUnit.get(entry.unit);
    if (found === undefined) this.#byUnit.set(entry.unit, [entry]);
    else found.push(entry);
  }

  keepNewest(count: number): void {
    for (const [unit, found] of this.#byUnit) this.#byUnit.set(unit, found.slice(-count));
  }

  /** The file that has them, in parts that are made as they are asked for. */
  *parts(): Iterable<Buffer> {
    for (const found of this.#byUnit.values()) {
      for (let start = 0; start < found.length; start += LINES_AT_ONCE) {
        const lines = found.slice(start, start + LINES_AT_ONCE);
        yield Buffer.from(lines.map(({ line }) => `${line}\n`).join(''));
      }
    }
  }
}

function noNumberLeft(unit: string): RobotError<'storage-failed'> {
  const path = `a revision of ${unit} after ${MAX_REVISION}`;
  const cure = 'Nobody saved that often: move the journal away to begin anew.';
  return new RobotError('storage-failed', { operation: 'write', path, errno: 'no number left', cure });
}
