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
export class LogFiles {
  readonly #disk: Disk;
  readonly #folder: string;
  readonly #keptBytes: number;
  readonly #fileBytes: number;
  #current: { readonly file: DiskFile; bytes: number } | undefined;
  /** The highest number of a file that this run has written to. */
  #number = 0;
  /** The number of a new file until its first lines are synced. If they fail, the next file gets the same number. */
  #unconfirmed: number | undefined;
  #toRemove: readonly string[] = [];

  constructor(disk: Disk, folder: string, keptBytes = KEPT_BYTES) {
    this.#disk = disk;
    this.#folder = folder;
    this.#keptBytes = keptBytes;
    this.#fileBytes = keptBytes / 8;
  }

  /** The newest whole line in the folder, and what brings it to the disk; undefined if there is no line. */
  async newestLine(): Promise<{ readonly head: LogHead; sync(): Promise<void> } | undefined> {
    for (const name of (await this.#names()).reverse()) {
      const last = (await this.#linesOf(name)).at(-1);
      if (last === undefined) continue;
      const sync = async () => {
        const file = await this.#disk.openToAppend(join(this.#folder, name));
        await file.sync().finally(() => file.close().catch(() => undefined));
      };
      return { head: headOf(last), sync };
    }
    return undefined;
  }

  /** Whether the current file was renamed, replaced or deleted. */
  async isMoved(): Promise<boolean> {
    return this.#current !== undefined && !(await this.#current.file.isInPlace());
  }

  /**
   * Creates a file if one is due. Resolves with the numbers of the first and last event that are dropped to make
   * room. The files that hold them are removed after the log has recorded this.
   */
  async prepare(): Promise<{ first: number; last: number } | undefined> {
    if (this.#current !== undefined && this.#current.bytes >= this.#fileBytes) await this.close();
    if (this.#current !== undefined) return undefined;
    const sizes = new Map<string, number>();
    for (const name of await this.#names()) sizes.set(name, await this.#disk.size(join(this.#folder, name)));
    // A power cut during a creation leaves an empty file. Its number is used again, so that such files stay few.
    const taken = [...sizes].filter(([name, bytes]) => NUMBERED.test(name) && bytes > 0);
    const number = this.#unconfirmed ?? Math.max(this.#number, ...taken.map(([name]) => numberOf(name))) + 1;
    this.#unconfirmed = number;
    const name = `events-${String(number).padStart(8, '0')}.jsonl`;
    sizes.delete(name);
    this.#toRemove = this.#tooMany(sizes);
    const lines: Buffer[] = [];
    for (const one of this.#toRemove) lines.push(...(await this.#linesOf(one)));
    this.#current = { file: await this.#disk.create(join(this.#folder, name)), bytes: 0 };
    const [first, last] = [lines[0], lines.at(-1)];
    return first && last && { first: headOf(first).seq, last: headOf(last).seq };
  }

  /** Resolves when the lines are synced. If it rejects, the next lines go into another file. */
  async append(lines: Buffer): Promise<void> {
    const current = this.#current;
    if (current === undefined) throw new Error('prepare() comes first');
    await current.file.append(lines);
    await current.file.sync();
    current.bytes += lines.length;
    if (this.#unconfirmed === undefined) return;
    await this.#disk.syncFolder(this.#folder);
    this.#number = this.#unconfirmed;
    this.#unconfirmed = undefined;
    // If a file cannot be removed, the removal is tried again when the next file begins.
    for (const name of this.#toRemove)
      await this.#disk.remove(join(this.#folder, name)).catch(() => undefined);
  }

  async close(): Promise<void> {
    const file = this.#current?.file;
    this.#current = undefined;
    await file?.close().catch(() => undefined);
  }

  async #names(): Promise<string[]> {
    return logFileNames(await this.#disk.list(this.#folder));
  }

  async #linesOf(name: string): Promise<readonly Buffer[]> {
    return wholeLines((await this.#disk.read(join(this.#folder, name))) ?? Buffer.alloc(0));
  }

  /** The oldest files that must go to make room for another full one. */
  #tooMany(sizes: ReadonlyMap<string, number>): readonly string[] {
    let left = [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0);
    return [...sizes].flatMap(([name, bytes]) => {
      if (left <= this.#keptBytes - this.#fileBytes) return [];
      left -= bytes;
      return [name];
    });
  }
}

function headOf(line: Buffer): LogHead {
  return { seq: parseLine(line.toString())?.seq ?? 0, hash: sha256(line) };
}
