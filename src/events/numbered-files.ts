import { join } from 'node:path';
import { sha256 } from '../core/sha256.js';
import type { LogHead } from '../schemas/log.js';
import type { Disk, DiskFile } from '../storage/disk.js';
import { parseLine, wholeLines } from './log-line.js';

/** The total size of all files in bytes. A new file begins when the current one has an eighth of it. */
const KEPT_BYTES = 8 << 20;
/** The two files of version 0.2.0, which are older than every numbered one. */
const UNNUMBERED = ['events.old.jsonl', 'events.jsonl'];
/** At least eight digits. The number after 99999999 has nine. */
const NUMBERED = /^events-(\d{8,})\.jsonl$/;

function numberOf(name: string): number {
  return Number(NUMBERED.exec(name)?.[1]);
}

/** The names of the log's files among these names, oldest first. */
export function logFileNames(names: readonly string[]): string[] {
  const numbered = names.filter(name => NUMBERED.test(name)).sort((a, b) => numberOf(a) - numberOf(b));
  return [...UNNUMBERED.filter(name => names.includes(name)), ...numbered];
}

/**
 * The files of the log in the state folder. Only the newest file is written, by the run that created it, and only
 * until a write fails. A closed file is never opened for writing again.
 */
export function numberedFiles(disk: Disk, folder: string, keptBytes = KEPT_BYTES) {
  const fileBytes = keptBytes / 8;
  let current: { readonly file: DiskFile; bytes: number } | undefined;
  /** The highest number of a file that this run has written to. */
  let highest = 0;
  /**
   * The number of a new file until its first lines are synced. If that fails, the next file gets the same
   * number.
   */
  let unconfirmed: number | undefined;
  let toRemove: readonly string[] = [];

  const pathOf = (name: string) => join(folder, name);
  const listed = async () => logFileNames(await disk.list(folder));
  const linesOf = async (name: string) => wholeLines((await disk.read(pathOf(name))) ?? Buffer.alloc(0));
  /** The oldest files that must go to make room for another full one. */
  const tooMany = (sizes: ReadonlyMap<string, number>) => {
    let left = [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0);
    return [...sizes].flatMap(([name, bytes]) => {
      if (left <= keptBytes - fileBytes) return [];
      left -= bytes;
      return [name];
    });
  };
  const close = async () => {
    const file = current?.file;
    current = undefined;
    await file?.close().catch(() => undefined);
  };
  return {
    close,
    /**
     * The newest whole line in the folder; undefined if there is none. `sync` brings that line to the disk.
     */
    newestLine: async (): Promise<{ readonly head: LogHead; sync(): Promise<void> } | undefined> => {
      for (const name of (await listed()).reverse()) {
        const lines = await linesOf(name);
        const last = lines.at(-1);
        if (last === undefined) continue;
        // The last line may be damaged. The chain goes on from it all the same.
        const numbered = lines.findLast(line => parseLine(line.toString()) !== undefined) ?? last;
        const sync = async () => {
          const file = await disk.openToAppend(pathOf(name));
          await file.sync().finally(() => file.close().catch(() => undefined));
        };
        return { head: { seq: headOf(numbered).seq, hash: sha256(last) }, sync };
      }
      return undefined;
    },
    /** Whether the current file was renamed, replaced or deleted. */
    isMoved: async () => current !== undefined && !(await current.file.isInPlace()),
    /**
     * Creates a file if the current one is full or missing. If old files must go to make room, resolves with the
     * numbers of their first and last event. The old files are removed after the log has recorded these numbers.
     */
    prepare: async (): Promise<{ first: number; last: number } | undefined> => {
      if (current !== undefined && current.bytes >= fileBytes) await close();
      if (current !== undefined) return undefined;
      const sizes = new Map<string, number>();
      for (const name of await listed()) sizes.set(name, await disk.size(pathOf(name)));
      // A power cut during a creation leaves an empty file. The next file gets the same number, so that empty files
      // stay few.
      const taken = [...sizes].filter(([name, bytes]) => NUMBERED.test(name) && bytes > 0);
      unconfirmed ??= Math.max(highest, ...taken.map(([name]) => numberOf(name))) + 1;
      const name = `events-${String(unconfirmed).padStart(8, '0')}.jsonl`;
      sizes.delete(name);
      toRemove = tooMany(sizes);
      let [first, last]: (Buffer | undefined)[] = [];
      for (const one of toRemove) {
        const lines = await linesOf(one);
        first ??= lines[0];
        last = lines.at(-1) ?? last;
      }
      current = { file: await disk.create(pathOf(name)), bytes: 0 };
      return first && last && { first: headOf(first).seq, last: headOf(last).seq };
    },
    /** Resolves when the lines are synced. If it rejects, the next lines go into another file. */
    append: async (lines: Buffer): Promise<void> => {
      if (current === undefined) throw new Error('prepare() comes first');
      const written = current;
      await written.file.append(lines);
      await written.file.sync();
      written.bytes += lines.length;
      if (unconfirmed === undefined) return;
      await disk.syncFolder(folder);
      highest = unconfirmed;
      unconfirmed = undefined;
      // If a file cannot be removed, the removal is tried again when the next file begins.
      for (const name of toRemove) await disk.remove(pathOf(name)).catch(() => undefined);
    },
  };
}

function headOf(line: Buffer): LogHead {
  return { seq: parseLine(line.toString())?.seq ?? 0, hash: sha256(line) };
}
