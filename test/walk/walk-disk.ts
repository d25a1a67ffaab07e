import { RobotError } from '../../src/core/errors.js';
import type { ManualClock } from '../support/manual-clock.js';
import { settle } from '../support/manual-clock.js';
import { RecordingDisk } from '../support/recording-disk.js';

/** How the disk behaves until the next change. */
export interface DiskWeather {
  readonly latencyMs: number;
  /** The operations that fail after their latency. */
  readonly fails: readonly string[];
  /** The part of a failing append that is written, from 0 to 1. */
  readonly torn: number;
  /** If true, operations hang until the next change. */
  readonly hangs?: true;
}

export const FAIR: DiskWeather = { latencyMs: 1, fails: [], torn: 0 };

/** A disk in simulated time: slow, failing, or hanging. */
export class WalkDisk extends RecordingDisk {
  #weather: DiskWeather = FAIR;
  readonly #clock: ManualClock;
  /** The functions that each end one pending operation, and whether it hangs. */
  readonly #underWay = new Map<() => void, boolean>();

  constructor(clock: ManualClock) {
    super();
    this.#clock = clock;
    this.interfere = operation => this.#take(operation === 'openToAppend' ? 'open' : operation);
  }

  get weather(): DiskWeather {
    return this.#weather;
  }

  set weather(weather: DiskWeather) {
    this.#weather = weather;
    this.torn = weather.torn;
    if (weather.hangs !== true) for (const [end, hangs] of this.#underWay) if (hangs) end();
  }

  /** A read may fail, or take too long. */
  get isUnreadable(): boolean {
    return this.#weather.hangs === true || this.#weather.fails.includes('read');
  }

  /** The content that a reader finds at the path; empty if there is no file. */
  content(path: string): Buffer {
    return this.files()[path] ?? Buffer.alloc(0);
  }

  /** The names of all files in the folder. */
  names(folder: string): readonly string[] {
    return Object.keys(this.files()).map(path => path.slice(folder.length + 1));
  }

  /** Ends the pending operations of a killed process. The kernel still completes them. */
  async finish(): Promise<void> {
    for (const end of this.#underWay.keys()) end();
    await settle();
  }

  /** `part`: the part of the unsynced data that survives, from 0 to 1. It is the beginning. */
  cutPower(part: number): void {
    this.cut({ names: { part }, data: { part } });
  }

  protected override async isInPlace(path: string, inode: number): Promise<boolean> {
    await this.interfere('look');
    return super.isInPlace(path, inode);
  }

  override async size(path: string): Promise<number> {
    await this.interfere('look');
    return super.size(path);
  }

  #take(operation: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const { weather } = this;
      const end = () => {
        timer?.cancel();
        this.#underWay.delete(end);
        if (weather.fails.includes(operation)) reject(failure(operation));
        else resolve();
      };
      const timer = weather.hangs ? undefined : this.#clock.after(weather.latencyMs, end);
      this.#underWay.set(end, weather.hangs === true);
    });
  }
}

/** The names of the operations in src/storage/disk.ts. */
const NAMES: Readonly<Record<string, string>> = { append: 'write', syncFolder: 'sync', look: 'look at' };

function failure(act: string): RobotError {
  const operation = NAMES[act] ?? act;
  return new RobotError('storage-failed', {
    operation,
    path: '/state',
    errno: 'EIO',
    cure: 'Replace the disk.',
  });
}
