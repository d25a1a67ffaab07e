import { join } from 'node:path';
import { type Clock, endedWithin, type Timer } from '../core/clock.js';
import { isObject } from '../core/json.js';
import { type Disk, START_MS } from './disk.js';
import { replaceFile } from './durable-file.js';

export const STOP_FILE = 'stop.json';

/**
 * The longest that a stop or a resume waits for the disk. It is in force without the record, but a daemon that starts
 * then may not know of it.
 */
const RECORD_MS = 200;
const TRY_AGAIN_MS = 1000;

/**
 * Remembers in the state folder whether the robot is stopped, for a restart at which no controller can say it because
 * the bus hangs or has come off. It counts within one boot of the machine: after a power cut the controllers have lost
 * their latch, too.
 */
export class StopRecord {
  readonly #disk: Disk;
  readonly #path: string;
  readonly #clock: Clock;
  readonly #boot: string;
  #wasStopped = true;
  /** The value on the medium; undefined while that is not known. */
  #kept: boolean | undefined;
  #wanted = false;
  #again: Timer | undefined;
  #work: Promise<void>;
  /**
   * Whether the disk was too slow to be waited for. Until it is done it is asked for nothing more, so that nothing piles
   * up.
   */
  #isStuck = false;

  private constructor(options: { folder: string; disk: Disk; clock: Clock; boot: string }) {
    this.#disk = options.disk;
    this.#path = join(options.folder, STOP_FILE);
    this.#clock = options.clock;
    this.#boot = options.boot;
    this.#work = this.#read();
  }

  /** Never rejects. A disk that is too slow is not waited for. */
  static async open(options: {
    folder: string;
    disk: Disk;
    clock: Clock;
    boot: string;
  }): Promise<StopRecord> {
    const record = new StopRecord(options);
    await endedWithin(options.clock, START_MS, record.#work);
    return record;
  }

  /**
   * Whether an earlier process of this boot was stopped when it ended. True also where the record cannot be read in
   * time.
   */
  get wasStopped(): boolean {
    return this.#wasStopped;
  }

  /** Resolves when the medium has it, cannot have it, or is too slow; never rejects. */
  async record(stopped: boolean): Promise<void> {
    this.#wanted = stopped;
    // Where a write is under way, another one follows it with the value that is wanted then.
    const work = this.#isStuck ? this.#work : this.#writeNext();
    this.#isStuck = !(await endedWithin(this.#clock, RECORD_MS, work));
  }

  /** Resolves when what was to be recorded has been written, or could not be. */
  async close(): Promise<void> {
    await this.#work;
    this.#again?.cancel();
  }

  async #read(): Promise<void> {
    try {
      const content = await this.#disk.read(this.#path);
      const { stopped, boot } = content === undefined ? { stopped: false, boot: '' } : decoded(content);
      this.#wasStopped = stopped && boot === this.#boot;
      this.#kept = this.#wasStopped;
    } catch {
      // The value stays unknown, and the robot starts stopped.
    }
  }

  #writeNext(): Promise<void> {
    this.#again?.cancel();
    this.#work = this.#work
      .then(() => this.#write())
      .then(() => {
        this.#isStuck = false;
      });
    return this.#work;
  }

  async #write(triesAgain = true): Promise<void> {
    const stopped = this.#wanted;
    if (stopped === this.#kept) return;
    this.#kept = undefined;
    try {
      const content = JSON.stringify({ stopped, boot: this.#boot });
      await replaceFile(this.#disk, this.#path, [Buffer.from(`${content}\n`)]);
      this.#kept = stopped;
      if (this.#wanted !== stopped) await this.#write();
    } catch {
      // A disk that failed once may take the newest value now.
      if (triesAgain) return this.#write(false);
      // The journal in the same folder reports what is wrong with the disk.
      this.#again = this.#clock.after(TRY_AGAIN_MS, () => void this.#writeNext());
    }
  }
}

/** Throws where it is damaged. */
function decoded(content: Buffer): { readonly stopped: boolean; readonly boot: string } {
  const value: unknown = JSON.parse(content.toString());
  const { stopped, boot } = isObject(value) ? value : {};
  if (typeof stopped !== 'boolean' || typeof boot !== 'string') throw new Error('not a record of a stop');
  return { stopped, boot };
}
