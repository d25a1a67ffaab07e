import { RobotError } from '../../src/core/errors.js';
import type { Disk, DiskFile } from '../../src/storage/disk.js';

/** Something that changed the disk; after a power cut, the medium has only what was synced for certain. */
export type Operation =
  | { readonly kind: 'create'; readonly path: string; readonly inode: number }
  | { readonly kind: 'append'; readonly inode: number; readonly data: Buffer }
  | { readonly kind: 'sync' | 'lost'; readonly inode: number }
  /** Another process wrote the file, and waited for the medium. */
  | { readonly kind: 'put'; readonly path: string; readonly inode: number; readonly data: Buffer }
  | { readonly kind: 'rename'; readonly from: string; readonly to: string }
  | { readonly kind: 'remove'; readonly path: string }
  | { readonly kind: 'syncFolder' }
  | { readonly kind: 'note'; readonly note: string };

/** How much of what was never synced is there after the cut: all, nothing, a number of bytes, or a part of the whole. */
type Kept = 'kept' | 'lost' | number | { readonly part: number };

export interface Cut {
  readonly names: Kept;
  readonly data: Kept;
}

/** A disk in memory. It records every operation, fails or hangs if a test says so, and its power can be cut at any operation. */
export class RecordingDisk implements Disk {
  readonly operations: Operation[] = [];
  /** Called before each operation; what it throws or awaits is the disk's answer. */
  interfere: (operation: string) => Promise<void> = async () => undefined;
  /** The part of an append that is written although the append fails. */
  torn = 0;
  readonly #names = new Map<string, number>();
  readonly #data = new Map<number, Buffer>();
  /** Files with bytes whose sync failed: Linux never writes these bytes again. */
  readonly #lost = new Set<number>();
  readonly #unsynced = new Set<number>();
  #inodes = 0;

  constructor(files: Readonly<Record<string, Buffer>> = {}) {
    for (const [path, data] of Object.entries(files)) {
      this.#inodes += 1;
      this.#names.set(path, this.#inodes);
      this.#data.set(this.#inodes, data);
    }
  }

  /**
   * The disk as the next process finds it after a kill: everything is there, but the medium has only what it had.
   */
  static replayed(operations: readonly Operation[]): RecordingDisk {
    const disk = new RecordingDisk();
    for (const operation of operations) {
      disk.operations.push(operation);
      if (operation.kind === 'create') {
        disk.#inodes = operation.inode;
        disk.#names.set(operation.path, operation.inode);
        disk.#data.set(operation.inode, Buffer.alloc(0));
      } else if (operation.kind === 'put') {
        disk.#names.set(operation.path, operation.inode);
        disk.#data.set(operation.inode, operation.data);
      } else if (operation.kind === 'append') {
        disk.#data.set(
          operation.inode,
          Buffer.concat([disk.#data.get(operation.inode) ?? Buffer.alloc(0), operation.data]),
        );
      } else if (operation.kind === 'rename') {
        const inode = disk.#names.get(operation.from);
        disk.#names.delete(operation.from);
        if (inode !== undefined) disk.#names.set(operation.to, inode);
      } else if (operation.kind === 'remove') disk.#names.delete(operation.path);
    }
    return disk;
  }

  /** Answers nothing from now on, until the returned act is called. */
  hang(): () => void {
    const { promise, resolve } = deferred();
    this.interfere = () => promise;
    return () => {
      this.interfere = async () => undefined;
      resolve();
    };
  }

  files(): Record<string, Buffer> {
    return Object.fromEntries(
      [...this.#names].map(([path, inode]) => [path, this.#data.get(inode) ?? Buffer.alloc(0)]),
    );
  }

  /** Puts a whole file in place, as another process does that waits for the medium. */
  put(path: string, data: Buffer): void {
    this.#inodes += 1;
    this.#names.set(path, this.#inodes);
    this.#data.set(this.#inodes, data);
    this.operations.push({ kind: 'put', path, inode: this.#inodes, data });
  }

  /** Cuts the power: what was never synced is there only as far as the cut says. */
  cut(cut: Cut): void {
    const left = afterCut(this.operations, this.operations.length, cut);
    this.operations.length = 0;
    this.#names.clear();
    this.#data.clear();
    this.#lost.clear();
    for (const [path, data] of Object.entries(left)) this.put(path, data);
  }

  /** Whether a reader finds something that is not on the medium and never will be. */
  get forgets(): boolean {
    return [...this.#names.values()].some(inode => this.#lost.has(inode));
  }

  note(note: string): void {
    this.operations.push({ kind: 'note', note });
  }

  async makeFolder(): Promise<void> {
    await this.interfere('makeFolder');
  }

  async list(folder: string): Promise<string[]> {
    await this.interfere('list');
    return [...this.#names.keys()].map(path => path.slice(folder.length + 1));
  }

  async read(path: string): Promise<Buffer | undefined> {
    await this.interfere('read');
    const inode = this.#names.get(path);
    return inode === undefined ? undefined : this.#data.get(inode);
  }

  async openToAppend(path: string): Promise<DiskFile> {
    await this.interfere('openToAppend');
    const inode = this.#names.get(path);
    if (inode === undefined)
      throw new RobotError('storage-failed', { operation: 'open', path, errno: 'ENOENT' });
    return this.#file(path, inode);
  }

  async create(path: string): Promise<DiskFile> {
    await this.interfere('create');
    this.#inodes += 1;
    this.#names.set(path, this.#inodes);
    this.#data.set(this.#inodes, Buffer.alloc(0));
    this.operations.push({ kind: 'create', path, inode: this.#inodes });
    return this.#file(path, this.#inodes);
  }

  async rename(from: string, to: string): Promise<void> {
    await this.interfere('rename');
    const inode = this.#names.get(from);
    if (inode === undefined)
      throw new RobotError('storage-failed', { operation: 'rename', path: to, errno: 'ENOENT' });
    this.#names.delete(from);
    this.#names.set(to, inode);
    this.operations.push({ kind: 'rename', from, to });
  }

  async remove(path: string): Promise<void> {
    await this.interfere('remove');
    this.#names.delete(path);
    this.operations.push({ kind: 'remove', path });
  }

  async size(path: string): Promise<number> {
    return this.#data.get(this.#names.get(path) ?? 0)?.length ?? 0;
  }

  async syncFolder(): Promise<void> {
    await this.interfere('syncFolder');
    this.operations.push({ kind: 'syncFolder' });
  }

  #file(path: string, inode: number): DiskFile {
    return {
      append: async data => {
        try {
          await this.interfere('append');
        } catch (error) {
          this.#append(inode, data.subarray(0, Math.round(data.length * this.torn)));
          throw error;
        }
        this.#append(inode, data);
      },
      sync: async () => {
        try {
          await this.interfere('sync');
        } catch (error) {
          if (this.#unsynced.delete(inode)) this.#lost.add(inode);
          this.operations.push({ kind: 'lost', inode });
          throw error;
        }
        this.#unsynced.delete(inode);
        this.operations.push({ kind: 'sync', inode });
      },
      isInPlace: () => this.isInPlace(path, inode),
      close: async () => undefined,
    };
  }

  protected async isInPlace(path: string, inode: number): Promise<boolean> {
    return this.#names.get(path) === inode;
  }

  #append(inode: number, data: Buffer): void {
    if (data.length === 0) return;
    this.#data.set(inode, Buffer.concat([this.#data.get(inode) ?? Buffer.alloc(0), data]));
    this.#unsynced.add(inode);
    this.operations.push({ kind: 'append', inode, data });
  }
}

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>(settle => {
    resolve = settle;
  });
  return { promise, resolve };
}

/** The files that a medium shows when the power went after the first `count` operations. */
export function afterCut(operations: readonly Operation[], count: number, cut: Cut): Record<string, Buffer> {
  const names = new Map<string, number>();
  const pendingNames: (() => void)[] = [];
  const data = new Map<number, { synced: Buffer; unsynced: Buffer }>();
  for (const operation of operations.slice(0, count)) {
    if (operation.kind === 'create') {
      data.set(operation.inode, { synced: Buffer.alloc(0), unsynced: Buffer.alloc(0) });
      pendingNames.push(() => names.set(operation.path, operation.inode));
    } else if (operation.kind === 'put') {
      data.set(operation.inode, { synced: operation.data, unsynced: Buffer.alloc(0) });
      names.set(operation.path, operation.inode);
    } else if (operation.kind === 'lost') {
      const { synced } = data.get(operation.inode)!;
      data.set(operation.inode, { synced, unsynced: Buffer.alloc(0) });
    } else if (operation.kind === 'append') {
      const file = data.get(operation.inode)!;
      data.set(operation.inode, { ...file, unsynced: Buffer.concat([file.unsynced, operation.data]) });
    } else if (operation.kind === 'sync') {
      const { synced, unsynced } = data.get(operation.inode)!;
      data.set(operation.inode, { synced: Buffer.concat([synced, unsynced]), unsynced: Buffer.alloc(0) });
    } else if (operation.kind === 'rename') {
      pendingNames.push(() => {
        const inode = names.get(operation.from);
        names.delete(operation.from);
        if (inode !== undefined) names.set(operation.to, inode);
      });
    } else if (operation.kind === 'remove') {
      pendingNames.push(() => names.delete(operation.path));
    } else if (operation.kind === 'syncFolder') {
      for (const act of pendingNames.splice(0)) act();
    }
  }
  for (const act of pendingNames.slice(0, keptOf(pendingNames.length, cut.names))) act();
  return Object.fromEntries(
    [...names].map(([path, inode]) => {
      const { synced, unsynced } = data.get(inode)!;
      return [path, Buffer.concat([synced, unsynced.subarray(0, keptOf(unsynced.length, cut.data))])];
    }),
  );
}

function keptOf(whole: number, kept: Kept): number {
  if (kept === 'kept') return whole;
  if (kept === 'lost') return 0;
  return typeof kept === 'number' ? kept : Math.round(whole * kept.part);
}

/** Bytes at the end of the operations that were never synced, in the file written last. */
export function unsyncedBytes(operations: readonly Operation[], count: number): number {
  let bytes = 0;
  for (const operation of operations.slice(0, count)) {
    if (operation.kind === 'append') bytes += operation.data.length;
    else if (operation.kind === 'sync' || operation.kind === 'create') bytes = 0;
  }
  return bytes;
}
