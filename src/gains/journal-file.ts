import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { RobotError } from '../core/errors.js';
import type { Disk, DiskFile } from '../storage/disk.js';
import { DAMAGED, damagedCopy, replaceFile } from '../storage/durable-file.js';
import { NEWLINE, parseJournal } from './journal-line.js';
import { Revisions } from './revisions.js';

export const JOURNAL_FILE = 'gains.jsonl';
/** The number of bytes that are parsed before other work runs: a few milliseconds' work on a small board. */
const PARSED_AT_ONCE_BYTES = 64 << 10;

/** The journal's file in the state folder, and the copies that were set aside beside it. Every failure is `storage-failed`. */
export class JournalFile {
  readonly #folder: string;
  readonly path: string;
  readonly #disk: Disk;
  readonly #setAside = new Set<string>();
  #file: DiskFile | undefined;
  #bytes = 0;
  /** Whether the file contains only confirmed lines. */
  #sound = false;
  /**
   * The content of the file at the path if it is damaged or not from this process. It is copied before the
   * file is replaced.
   */
  #foreign: Buffer | undefined;

  constructor(folder: string, disk: Disk) {
    this.#folder = folder;
    this.path = join(folder, JOURNAL_FILE);
    this.#disk = disk;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Names of the copies of damaged files. */
  get setAside(): readonly string[] {
    return [...this.#setAside].sort();
  }

  async load(): Promise<Revisions> {
    const bytes = await this.#disk.read(this.path);
    const { revisions, damaged, newerFormat } = await parsedInTurns(bytes ?? Buffer.alloc(0));
    if (newerFormat !== undefined) {
      const cure = `A newer version of Trunnion wrote it: install that version, or move ${this.path} away to begin anew.`;
      throw this.failure('read', `format ${newerFormat}`, cure);
    }
    for (const name of await this.#disk.list(this.#folder)) {
      if (name.startsWith(JOURNAL_FILE + DAMAGED) && !name.endsWith('.new')) this.#setAside.add(name);
    }
    this.#bytes = bytes?.length ?? 0;
    if (damaged) this.#foreign = bytes;
    // If this fails, the gains are already loaded. The next save rewrites the file, or fails with the reason.
    else if (bytes !== undefined) await this.#openFound().catch(() => undefined);
    return revisions;
  }

  /** Whether the file at the path is open and contains only confirmed lines. Otherwise it must be replaced. */
  async isReady(): Promise<boolean> {
    if (this.#file === undefined) return false;
    const inPlace = await this.#file.isInPlace();
    if (inPlace && this.#sound) return true;
    if (!inPlace) this.#foreign = await this.#disk.read(this.path);
    await this.close();
    return false;
  }

  /** Replaces the file. The old one stays whole until the new one is on the medium. */
  async replace(parts: Iterable<Buffer>): Promise<void> {
    await this.close();
    await this.#keepForeign();
    this.#bytes = await replaceFile(this.#disk, this.path, parts);
    await this.#open();
  }

  /**
   * Resolves when the lines are synced, in the file that the path leads to. After a failure the file must be
   * replaced.
   */
  async append(lines: Buffer): Promise<void> {
    const file = this.#file;
    if (file === undefined) throw this.failure('write', 'not open', 'Look at the state folder.');
    this.#sound = false;
    await file.append(lines);
    await file.sync();
    if (!(await file.isInPlace()))
      throw this.failure('write', 'moved', 'Leave the state folder where it is.');
    this.#bytes += lines.length;
    this.#sound = true;
  }

  /** Call this when the file may contain lines that were not confirmed. */
  distrust(): void {
    this.#sound = false;
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }

  async #open(): Promise<void> {
    // A killed process may have left a rename that is not synced yet.
    await this.#disk.syncFolder(this.#folder);
    this.#file = await this.#disk.openToAppend(this.path);
    this.#sound = true;
  }

  /** Opens a file that may have lines which a killed process has not synced. */
  async #openFound(): Promise<void> {
    await this.#open();
    this.#sound = false;
    await this.#file?.sync();
    this.#sound = true;
  }

  async #keepForeign(): Promise<void> {
    if (this.#foreign === undefined) return;
    const name = damagedCopy(JOURNAL_FILE, this.#foreign);
    if (!this.#setAside.has(name)) await replaceFile(this.#disk, join(this.#folder, name), [this.#foreign]);
    this.#setAside.add(name);
    this.#foreign = undefined;
  }

  failure(operation: string, errno: string, cure: string): RobotError<'storage-failed'> {
    return new RobotError('storage-failed', { operation, path: this.path, errno, cure });
  }
}

/** Parses a long journal in parts, so that other work runs in between. */
async function parsedInTurns(bytes: Buffer) {
  const revisions = new Revisions();
  let damaged = false;
  let newerFormat: number | undefined;
  for (let start = 0; start < bytes.length; ) {
    const newline = bytes.indexOf(NEWLINE, start + PARSED_AT_ONCE_BYTES);
    const end = newline < 0 ? bytes.length : newline + 1;
    const text = parseJournal(bytes.subarray(start, end));
    for (const entry of text.entries) revisions.add(entry);
    damaged ||= text.damaged;
    newerFormat ??= text.newerFormat;
    start = end;
    await setImmediate();
  }
  const repeated = revisions.order();
  return { revisions, damaged: damaged || repeated, newerFormat };
}
