import { RobotError } from '../../src/core/errors.js';
import type { Disk, DiskFile } from '../../src/storage/disk.js';

/** An operation that changed the disk. */
export type Operation =
  | { readonly kind: 'create'; readonly path: string; readonly inode: number }
  | { readonly kind: 'append'; readonly inode: number; readonly data: Buffer }
  /** A failed sync is `lost`: Linux never writes those bytes again. */
  | { readonly kind: 'sync' | 'lost'; readonly inode: number }
  /** Another process wrote the file and synced it. */
  | { readonly kind: 'put'; readonly path: string; readonly inode: number; readonly data: Buffer }
  | { readonly kind: 'rename'; readonly from: string; readonly to: string }
  | { readonly kind: 'remove'; readonly path: string }
  | { readonly kind: 'syncFolder' }
  | { readonly kind: 'note'; readonly note: string };

/** How much of the unsynced data survives the cut: all, nothing, a number of bytes, or a part of it. */
type Kept = 'kept' | 'lost' | number | { readonly part: number };

export interface Cut {
  readonly names: Kept;
  readonly data: Kept;
}

interface Content {
  /** What a process reads. */
  whole: Buffer;
  /** The content in pieces. A lost piece never reaches the medium. */
  readonly pieces: { readonly data: Buffer; state: 'unsynced' | 'synced' | 'lost' }[];
}

/** The state of a disk after a series of operations: for the processes that use it, and on the medium. */
class Medium {
  readonly names = new Map<string, number>();
  readonly #content = new Map<number, Content>();
  readonly #syncedNames = new Map<string, number>();
  /** Changed names whose folder has not been synced. */
  readonly #pending: (() => void)[] = [];

  apply(operation: Operation): void {
    if (operation.kind === 'create') this.#rename(names => names.set(operation.path, operation.inode));
    else if (operation.kind === 'remove') this.#rename(names => names.delete(operation.path));
    else if (operation.kind === 'rename') {
      const inode = this.names.get(operation.from);
      this.#rename(names => names.delete(operation.from) && inode && names.set(operation.to, inode));
    } else if (operation.kind === 'put') {
      const { data, inode, path } = operation;
      this.#content.set(inode, { whole: data, pieces: [{ data, state: 'synced' }] });
      for (const names of [this.names, this.#syncedNames]) names.set(path, inode);
    } else if (operation.kind === 'append') {
      const content = this.#of(operation.inode);
      content.whole = Buffer.concat([content.whole, operation.data]);
      content.pieces.push({ data: operation.data, state: 'unsynced' });
    } else if (operation.kind === 'sync' || operation.kind === 'lost') {
      const state = operation.kind === 'sync' ? 'synced' : 'lost';
      for (const piece of this.#of(operation.inode).pieces)
        if (piece.state === 'unsynced') piece.state = state;
    } else if (operation.kind === 'syncFolder') for (const act of this.#pending.splice(0)) act();
  }

  read(path: string): Buffer | undefined {
    const inode = this.names.get(path);
    return inode === undefined ? undefined : this.#of(inode).whole;
  }

  get forgets(): boolean {
    return [...this.names.values()].some(inode =>
      this.#of(inode).pieces.some(({ state }) => state === 'lost'),
    );
  }

  /** The files after a power cut. Call this once. */
  after(cut: Cut): Record<string, Buffer> {
    for (const act of this.#pending.slice(0, keptOf(this.#pending.length, cut.names))) act();
    return Object.fromEntries(
      [...this.#syncedNames].map(([path, inode]) => {
        const of = (wanted: string) =>
          Buffer.concat(this.#of(inode).pieces.flatMap(({ data, state }) => (state === wanted ? data : [])));
        const unsynced = of('unsynced');
        return [path, Buffer.concat([of('synced'), unsynced.subarray(0, keptOf(unsynced.length, cut.data))])];
      }),
    );
  }

  #of(inode: number): Content {
    const content = this.#content.get(inode) ?? { whole: Buffer.alloc(0), pieces: [] };
    this.#content.set(inode, content);
    return content;
  }

  #rename(act: (names: Map<string, number>) => unknown): void {
    act(this.names);
    this.#pending.push(() => act(this.#syncedNames));
  }
}

/**
 * A disk in memory. It records every operation. A test can let it fail or hang, and can cut the power at any
 * operation.
 */
export class RecordingDisk implements Disk {
  readonly operations: Operation[] = [];
  /** Called before each operation. If it throws or waits, so does the operation. */
  interfere: (operation: string) => Promise<void> = async () => undefined;
  /** The part that a failing append still writes. */
  torn = 0;
  #medium = new Medium();
  #inodes = 0;

  constructor(files: Readonly<Record<string, Buffer>> = {}) {
    for (const [path, data] of Object.entries(files)) this.put(path, data);
    this.operations.length = 0;
  }

  /**
   * The disk as the next process finds it after a kill. It has all data, and the medium still has only what was
   * synced.
   */
  static replayed(operations: readonly Operation[]): RecordingDisk {
    const disk = new RecordingDisk();
    for (const operation of operations) disk.#do(operation);
    disk.#inodes = operations.length;
    return disk;
  }

  /** Stops answering, until the returned function is called. If operations are named, only these hang. */
  hang(...hanging: readonly string[]): () => void {
    let answer: () => void = () => undefined;
    const answered = new Promise<void>(resolve => {
      answer = resolve;
    });
    this.interfere = async operation => {
      if (hanging.length === 0 || hanging.includes(operation)) await answered;
    };
    return () => {
      this.interfere = async () => undefined;
      answer();
    };
  }

  /** From now on these operations fail, and no others. */
  fail(...failing: readonly string[]): void {
    this.failTimes(Number.POSITIVE_INFINITY, ...failing);
  }

  /** The next `times` calls of these operations fail, counted together. Other operations work. */
  failTimes(times: number, ...failing: readonly string[]): void {
    let left = times;
    this.interfere = async operation => {
      if (left === 0 || !failing.includes(operation)) return;
      left -= 1;
      const context = { operation, path: '/state', errno: 'EIO', cure: 'Replace the disk.' };
      throw new RobotError('storage-failed', context);
    };
  }

  files(): Record<string, Buffer> {
    return Object.fromEntries(
      [...this.#medium.names.keys()].map(path => [path, this.#medium.read(path) ?? Buffer.alloc(0)]),
    );
  }

  /** Replaces a whole file and syncs it, as another process does. */
  put(path: string, data: Buffer): void {
    this.#do({ kind: 'put', path, inode: this.#newInode(), data });
  }

  /** Cuts the power. `cut` says how much of the unsynced data survives. */
  cut(cut: Cut): void {
    const left = this.#medium.after(cut);
    this.operations.length = 0;
    this.#medium = new Medium();
    for (const [path, data] of Object.entries(left)) this.put(path, data);
  }

  /** True if a reader finds data that is not on the medium and never will be. */
  get forgets(): boolean {
    return this.#medium.forgets;
  }

  note(note: string): void {
    this.#do({ kind: 'note', note });
  }

  async makeFolder(): Promise<void> {
    await this.interfere('makeFolder');
  }

  async list(folder: string): Promise<string[]> {
    await this.interfere('list');
    return [...this.#medium.names.keys()].map(path => path.slice(folder.length + 1));
  }

  async read(path: string): Promise<Buffer | undefined> {
    await this.interfere('read');
    return this.#medium.read(path);
  }

  async openToAppend(path: string): Promise<DiskFile> {
    await this.interfere('openToAppend');
    return this.#file(path, this.#inodeOf(path, 'open'));
  }

  async create(path: string): Promise<DiskFile> {
    await this.interfere('create');
    const inode = this.#newInode();
    this.#do({ kind: 'create', path, inode });
    return this.#file(path, inode);
  }

  async rename(from: string, to: string): Promise<void> {
    await this.interfere('rename');
    this.#inodeOf(from, 'rename');
    this.#do({ kind: 'rename', from, to });
  }

  async remove(path: string): Promise<void> {
    await this.interfere('remove');
    this.#do({ kind: 'remove', path });
  }

  async size(path: string): Promise<number> {
    return this.#medium.read(path)?.length ?? 0;
  }

  async syncFolder(): Promise<void> {
    await this.interfere('syncFolder');
    this.#do({ kind: 'syncFolder' });
  }

  protected async isInPlace(path: string, inode: number): Promise<boolean> {
    return this.#medium.names.get(path) === inode;
  }

  #file(path: string, inode: number): DiskFile {
    const append = (data: Buffer) => {
      if (data.length > 0) this.#do({ kind: 'append', inode, data });
    };
    return {
      append: async data => {
        try {
          await this.interfere('append');
        } catch (error) {
          append(data.subarray(0, Math.round(data.length * this.torn)));
          throw error;
        }
        append(data);
      },
      sync: async () => {
        try {
          await this.interfere('sync');
        } catch (error) {
          this.#do({ kind: 'lost', inode });
          throw error;
        }
        this.#do({ kind: 'sync', inode });
      },
      isInPlace: () => this.isInPlace(path, inode),
      close: async () => undefined,
    };
  }

  #do(operation: Operation): void {
    this.operations.push(operation);
    this.#medium.apply(operation);
  }

  #newInode(): number {
    this.#inodes += 1;
    return this.#inodes;
  }

  #inodeOf(path: string, operation: string): number {
    const inode = this.#medium.names.get(path);
    if (inode === undefined) throw new RobotError('storage-failed', { operation, path, errno: 'ENOENT' });
    return inode;
  }
}

/**
 * Cuts the power after each operation, starting with the `first`. Unsynced names and data survive or are lost. From
 * the file that was written last, some unsynced bytes survive too: `tears` chooses the numbers of bytes. Yields the notes
 * before each cut, the files after it, and a text for the message of a failing test.
 */
export function* powerCuts(
  operations: readonly Operation[],
  tears: (unsynced: number) => readonly number[],
  first = 0,
) {
  for (let count = first; count <= operations.length; count += 1) {
    const before = operations.slice(0, count);
    const notes = before.flatMap(operation => (operation.kind === 'note' ? operation.note : []));
    for (const data of ['kept', 'lost', ...tears(unsyncedBytes(before))] as const)
      for (const names of ['kept', 'lost'] as const) {
        const medium = new Medium();
        for (const operation of before) medium.apply(operation);
        const when = `after ${count} operations, names ${names}, data ${data}`;
        yield { notes, files: medium.after({ names, data }), when };
      }
  }
}

export const everyByte = (unsynced: number) => Array.from({ length: unsynced }, (_, bytes) => bytes);
export const firstAndLastByte = (unsynced: number) => (unsynced > 1 ? [1, unsynced - 1] : []);

function keptOf(whole: number, kept: Kept): number {
  if (kept === 'kept') return whole;
  if (kept === 'lost') return 0;
  return typeof kept === 'number' ? kept : Math.round(whole * kept.part);
}

/** The number of unsynced bytes at the end, in the file that was written last. */
function unsyncedBytes(operations: readonly Operation[]): number {
  let bytes = 0;
  for (const operation of operations) {
    if (operation.kind === 'append') bytes += operation.data.length;
    else if (operation.kind === 'sync' || operation.kind === 'create') bytes = 0;
  }
  return bytes;
}
