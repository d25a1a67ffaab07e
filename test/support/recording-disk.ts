import { RobotError } from '../../src/core/errors.js';
import type { Disk, DiskFile } from '../../src/storage/disk.js';

/** The part of one operation that a medium may have got when the power goes. */
export type Operation =
  | { readonly kind: 'create'; readonly path: string; readonly inode: number }
  | { readonly kind: 'append'; readonly inode: number; readonly data: Buffer }
  | { readonly kind: 'sync'; readonly inode: number }
  | { readonly kind: 'rename'; readonly from: string; readonly to: string }
  | { readonly kind: 'remove'; readonly path: string }
  | { readonly kind: 'syncFolder' }
  | { readonly kind: 'note'; readonly note: string };

/** How much of what was never synced is there after the cut. */
export interface Cut {
  readonly names: 'kept' | 'lost';
  readonly data: 'kept' | 'lost' | number;
}

/** A disk in memory that writes down every operation, fails when it has to, and can be cut at any of them. */
export class RecordingDisk implements Disk {
  readonly operations: Operation[] = [];
  /** Called before each operation; what it throws or awaits is the disk's answer. */
  interfere: (operation: string) => Promise<void> = async () => undefined;
  readonly #names = new Map<string, number>();
  readonly #data = new Map<number, Buffer>();
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
        await this.interfere('append');
        this.#data.set(inode, Buffer.concat([this.#data.get(inode) ?? Buffer.alloc(0), data]));
        this.operations.push({ kind: 'append', inode, data });
      },
      sync: async () => {
        await this.interfere('sync');
        this.operations.push({ kind: 'sync', inode });
      },
      isInPlace: async () => this.#names.get(path) === inode,
      close: async () => undefined,
    };
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
  if (cut.names === 'kept') for (const act of pendingNames) act();
  return Object.fromEntries(
    [...names].map(([path, inode]) => {
      const { synced, unsynced } = data.get(inode)!;
      const kept = cut.data === 'kept' ? unsynced.length : cut.data === 'lost' ? 0 : cut.data;
      return [path, Buffer.concat([synced, unsynced.subarray(0, kept)])];
    }),
  );
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
