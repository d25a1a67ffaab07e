import { join } from 'node:path';
import { type Clock, endedWithin } from '../core/clock.js';
import { isObject } from '../core/json.js';
import { UNIT_LIST, type UnitName } from '../core/units.js';
import { type Disk, START_MS } from './disk.js';
import { replaceFile } from './durable-file.js';

export const SILENCE_FILE = 'host-silence.json';

/** The host silence with which a controller starts, and which it may have again after a reset that nobody saw. */
const AT_CONTROLLER_START_MS = 500;
const MAX_MS = 0xffff;

/** Milliseconds by unit, 0 for a silence without end. Units that this version does not know are kept. */
type Silences = Readonly<Record<string, number>>;

/**
 * How long each motor controller may go on without a heartbeat because an earlier process allowed it, kept in the state
 * folder. A controller that has been silent towards us for longer than that has taken its torque off.
 */
export class SilenceRecord {
  readonly #path: string;
  readonly #disk: Disk;
  /** Undefined while the record was not read yet, cannot be read or is damaged. */
  #silences: Silences | undefined;
  /** Whether a write has failed, so that the medium may have another silence. */
  #isUnsure = false;
  #work: Promise<void> = Promise.resolve();

  private constructor(folder: string, disk: Disk) {
    this.#path = join(folder, SILENCE_FILE);
    this.#disk = disk;
  }

  /** Never rejects. A disk that is too slow is not waited for. */
  static async open(options: { folder: string; disk: Disk; clock: Clock }): Promise<SilenceRecord> {
    const record = new SilenceRecord(options.folder, options.disk);
    record.#work = record.#read();
    await endedWithin(options.clock, START_MS, record.#work);
    return record;
  }

  /**
   * The largest silence that the unit's controller may have been given: at least 500 ms, which is what it has without a
   * record; Infinity where it may be one without end, or where the record cannot be read.
   */
  largestMs(unit: UnitName): number {
    if (this.#silences === undefined) return Number.POSITIVE_INFINITY;
    const recorded = this.#silences[unit] ?? AT_CONTROLLER_START_MS;
    return recorded === 0 ? Number.POSITIVE_INFINITY : Math.max(recorded, AT_CONTROLLER_START_MS);
  }

  /**
   * Records that the unit's controller has this silence only, 0 for one without end. Resolves when that is on the
   * medium. A larger silence is recorded before it is given, a smaller one after the controller has it. Rejects with
   * `storage-failed`: then `largestMs` says what it said before, and the file has the old silence or the new one.
   */
  record(unit: UnitName, silenceMs: number): Promise<void> {
    const done = this.#work.then(() => this.#write(unit, silenceMs));
    this.#work = done.catch(() => undefined);
    return done;
  }

  /** Resolves when what was to be recorded has been written, or could not be. */
  async close(): Promise<void> {
    await this.#work;
  }

  async #read(): Promise<void> {
    try {
      const bytes = await this.#disk.read(this.#path);
      this.#silences = bytes === undefined ? {} : silencesIn(bytes);
    } catch {
      // The silences stay unknown. The journal in the same folder reports what is wrong with the disk.
    }
  }

  async #write(unit: UnitName, silenceMs: number): Promise<void> {
    const recorded = this.#silences && (this.#silences[unit] ?? AT_CONTROLLER_START_MS);
    if (recorded === silenceMs && !this.#isUnsure) return;
    const unknown = Object.fromEntries(UNIT_LIST.map(({ name }) => [name, 0]));
    const silences = { ...(this.#silences ?? unknown), [unit]: silenceMs };
    this.#isUnsure = true;
    await replaceFile(this.#disk, this.#path, [Buffer.from(`${JSON.stringify(silences)}\n`)]);
    this.#isUnsure = false;
    this.#silences = silences;
  }
}

function silencesIn(bytes: Buffer): Silences | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString());
    return isSilences(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isSilences(value: unknown): value is Silences {
  return isObject(value) && Object.values(value).every(isSilence);
}

function isSilence(ms: unknown): boolean {
  return Number.isInteger(ms) && Number(ms) >= 0 && Number(ms) <= MAX_MS;
}
