import type { Timer } from '../../src/core/clock.js';
import { RobotError } from '../../src/core/errors.js';
import type { Disk, DiskFile } from '../../src/storage/disk.js';
import type { WalkClock } from './walk-clock.js';

/** How the disk behaves from now on. */
export interface DiskWeather {
  readonly latencyMs: number;
  /** These operations fail, after the latency. */
  readonly fails: readonly string[];
  /** The part of a failing append that is written all the same, from 0 to 1. */
  readonly torn: number;
  /** Nothing is answered until the weather is another. */
  readonly hangs?: true;
}

export const FAIR: DiskWeather = { latencyMs: 1, fails: [], torn: 0 };

interface Chunk {
  readonly bytes: Buffer;
  /** A chunk whose sync failed never reaches the medium, whatever later syncs say: so Linux does it. */
  state: 'cached' | 'durable' | 'lost';
}

interface Inode {
  chunks: Chunk[];
}

type NameChange = (names: Map<string, Inode>) => unknown;

/** The part of what was never synced that a power cut leaves: nothing, all, or the beginning. */
export type Left = 'nothing' | 'all' | number;

/** A disk in memory, in simulated time: slow, failing, and with a cache that a power cut empties. */
export class WalkDisk implements Disk {
  #weather: DiskWeather = FAIR;
  readonly #clock: WalkClock;
  #names = new Map<string, Inode>();
  #durableNames = new Map<string, Inode>();
  readonly #nameChanges: NameChange[] = [];
  readonly #underWay = new Set<() => void>();
  readonly #hanging = new Set<() => void>();

  constructor(clock: WalkClock) {
    this.#clock = clock;
  }

  get weather(): DiskWeather {
    return this.#weather;
  }

  set weather(weather: DiskWeather) {
    this.#weather = weather;
    if (weather.hangs !== true) for (const end of [...this.#hanging]) end();
  }

  /** What is read now may not be had, or not in time. */
  get isUnreadable(): boolean {
    return this.#weather.hangs === true || this.#weather.fails.includes('read');
  }

  /** Something that a reader finds is not on the medium, and never will be. */
  get forgets(): boolean {
    return [...this.#names.values()].some(({ chunks }) => chunks.some(({ state }) => state === 'lost'));
  }

  /** What a reader finds at the path; empty where there is no file. */
  content(path: string): Buffer {
    return Buffer.concat((this.#names.get(path)?.chunks ?? []).map(({ bytes }) => bytes));
  }

  /** The names of all files in the folder. */
  names(folder: string): readonly string[] {
    return [...this.#names.keys()].map(path => path.slice(folder.length + 1));
  }

  /** What a killed process has asked of the kernel is done before the process is gone. */
  finish(): void {
    for (const act of [...this.#underWay]) act();
  }

  cut(left: Left): void {
    const part = left === 'all' ? 1 : left === 'nothing' ? 0 : left;
    const changes = this.#nameChanges.splice(0);
    for (const change of changes.slice(0, Math.round(changes.length * part))) change(this.#durableNames);
    this.#names = new Map(this.#durableNames);
    for (const inode of new Set(this.#names.values())) {
      const durable = inode.chunks.filter(({ state }) => state === 'durable');
      const cached = Buffer.concat(
        inode.chunks.filter(({ state }) => state === 'cached').map(({ bytes }) => bytes),
      );
      const kept = cached.subarray(0, Math.round(cached.length * part));
      inode.chunks = [...durable, ...(kept.length > 0 ? [{ bytes: kept, state: 'durable' as const }] : [])];
    }
  }

  /** Another process has put a whole file in place of an older one, and waited for the medium. */
  put(path: string, bytes: Buffer): void {
    const inode: Inode = { chunks: [{ bytes, state: 'durable' }] };
    this.#names.set(path, inode);
    this.#durableNames.set(path, inode);
  }

  async makeFolder(): Promise<void> {
    await this.#does('makeFolder', () => undefined);
  }

  list(folder: string): Promise<readonly string[]> {
    return this.#does('list', () => this.names(folder));
  }

  read(path: string): Promise<Buffer | undefined> {
    return this.#does('read', () => {
      return this.#names.has(path) ? this.content(path) : undefined;
    });
  }

  openToAppend(path: string): Promise<DiskFile> {
    return this.#does('open', () => {
      const inode = this.#names.get(path);
      if (inode === undefined) throw failure('open', 'ENOENT');
      return this.#file(path, inode);
    });
  }

  create(path: string): Promise<DiskFile> {
    return this.#does('create', () => {
      const inode: Inode = { chunks: [] };
      this.#change(names => names.set(path, inode));
      return this.#file(path, inode);
    });
  }

  async rename(from: string, to: string): Promise<void> {
    await this.#does('rename', () => {
      if (!this.#names.has(from)) throw failure('rename', 'ENOENT');
      this.#change(names => {
        const inode = names.get(from);
        names.delete(from);
        if (inode !== undefined) names.set(to, inode);
      });
    });
  }

  async remove(path: string): Promise<void> {
    await this.#does('remove', () => this.#change(names => names.delete(path)));
  }

  size(path: string): Promise<number> {
    return this.#does('look', () => this.content(path).length);
  }

  async syncFolder(): Promise<void> {
    await this.#does('syncFolder', () => {
      for (const change of this.#nameChanges.splice(0)) change(this.#durableNames);
    });
  }

  #change(change: NameChange): void {
    change(this.#names);
    this.#nameChanges.push(change);
  }

  #file(path: string, inode: Inode): DiskFile {
    const settleAs = (state: Chunk['state']) => {
      for (const chunk of inode.chunks) if (chunk.state === 'cached') chunk.state = state;
    };
    return {
      append: async data => {
        await this.#does(
          'append',
          () => inode.chunks.push({ bytes: data, state: 'cached' }),
          ({ torn }) => {
            const bytes = data.subarray(0, Math.round(data.length * torn));
            if (bytes.length > 0) inode.chunks.push({ bytes, state: 'cached' });
          },
        );
      },
      sync: () =>
        this.#does(
          'sync',
          () => settleAs('durable'),
          () => settleAs('lost'),
        ),
      isInPlace: () => this.#does('look', () => this.#names.get(path) === inode),
      close: () => this.#does('close', () => undefined),
    };
  }

  #does<T>(operation: string, act: () => T, whenFailed?: (weather: DiskWeather) => void): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const { weather } = this;
      let timer: Timer | undefined;
      const end = () => {
        timer?.cancel();
        this.#underWay.delete(end);
        this.#hanging.delete(end);
        try {
          if (weather.fails.includes(operation)) {
            whenFailed?.(weather);
            throw failure(operation, 'EIO');
          }
          resolve(act());
        } catch (error) {
          reject(error);
        }
      };
      this.#underWay.add(end);
      if (weather.hangs) this.#hanging.add(end);
      else timer = this.#clock.after(weather.latencyMs, end);
    });
  }
}

/** The names of the operations in src/storage/disk.ts. */
const NAMES: Readonly<Record<string, string>> = { append: 'write', syncFolder: 'sync', look: 'look at' };

function failure(act: string, errno: string): RobotError {
  const operation = NAMES[act] ?? act;
  return new RobotError('storage-failed', { operation, path: '/state', errno, cure: 'Replace the disk.' });
}
