import { join } from 'node:path';
import type { Boot } from '../core/boot.js';
import { type Clock, endedWithin, type Timer } from '../core/clock.js';
import { RobotError } from '../core/errors.js';
import { Listeners } from '../core/listeners.js';
import { PHASES, type Phase } from '../core/phases.js';
import { sha256 } from '../core/sha256.js';
import { damagedCopy } from '../storage/damaged-copy.js';
import { type Disk, START_MS } from '../storage/disk.js';
import { replaceFile } from '../storage/durable-file.js';
import { type StorageFailure, storageFailure, tooSlow } from '../storage/storage-failure.js';
import { type Lock, type MatchCall, type MatchState, NO_MATCH } from './match.js';

const FILE = 'match.json';
/** Whoever asked for a lock or a phase is answered within this time, whether the medium has it or not. */
const SAVE_MS = 800;
const TRY_AGAIN_MS = 2000;

/** The state in terms that another process of the same boot understands. */
interface Recorded {
  readonly lock: Lock | null;
  readonly call: MatchCall | null;
  readonly phase: Phase;
  readonly boot: string | null;
  /** Milliseconds on the clock of the boot. */
  readonly endsAtMs: number | null;
}

/** Keeps lock and match in the state folder, through restarts and power cuts. */
export class MatchRecord {
  /** Emitted when there is another problem, or none any more. */
  readonly changed = new Listeners<void>();
  readonly #disk: Disk;
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #boot: Boot;
  #again: Timer | undefined;
  #writing: Promise<void> = Promise.resolve();
  /**
   * Whether somebody was answered before the disk was done. Until it is, nobody waits for it any more, so that nothing
   * piles up.
   */
  #isStuck = false;
  #wanted: MatchState | undefined;
  /** The state that is on the medium. */
  #kept: MatchState | undefined;
  #problem: StorageFailure | undefined;

  constructor(options: { disk: Disk; folder: string; clock: Clock; boot: Boot }) {
    this.#disk = options.disk;
    this.#folder = options.folder;
    this.#clock = options.clock;
    this.#boot = options.boot;
  }

  /** Why the medium does not have the newest state. */
  get problem(): StorageFailure | undefined {
    return this.#problem;
  }

  /**
   * Reads the state. A match goes on after a restart of the daemon, but pauses after a boot, since nobody knows how
   * long that took. What cannot be read in time may have been a lock, and counts as one that only a referee takes away,
   * whatever the disk says later.
   */
  async load(): Promise<MatchState> {
    let state: MatchState | undefined;
    let problem = tooSlow('read', this.#path);
    const read = this.#read().then(
      found => {
        state = found;
      },
      (error: unknown) => {
        problem = storageFailure(error);
      },
    );
    await endedWithin(this.#clock, START_MS, read);
    if (state !== undefined) return state;
    this.#setProblem(problem);
    return locked('The record of lock and match cannot be read.');
  }

  async #read(): Promise<MatchState> {
    const path = this.#path;
    const content = await this.#disk.read(path);
    if (content === undefined) return NO_MATCH;
    const recorded = decode(content);
    if (recorded === undefined) {
      await this.#keepCopy(path, content);
      return locked('The record of lock and match was damaged, or a newer version of Trunnion wrote it.');
    }
    const { lock, call, phase, boot, endsAtMs } = recorded;
    const isSameBoot = boot !== null && boot === this.#boot.id;
    if (isSameBoot || phase === 'none' || phase === 'ended') {
      const leftMs = endsAtMs === null ? null : endsAtMs - this.#boot.nowMs();
      return { lock, call, phase, endsAtMs: leftMs === null ? null : this.#clock.nowMs() + leftMs };
    }
    return { lock, call, phase: 'pause', endsAtMs: null };
  }

  /** Resolves when the medium has this state or a newer one. Rejects with `not-kept`, and goes on trying. */
  async save(state: MatchState): Promise<void> {
    if (state === this.#kept && this.#wanted === undefined) return;
    this.#wanted = state;
    // Where a write is under way, another one follows it with the state that is wanted then.
    if (!this.#isStuck) this.#writeNext();
    if (this.#isStuck || !(await endedWithin(this.#clock, SAVE_MS, this.#writing))) {
      this.#isStuck = true;
      const slow = tooSlow('write', this.#path);
      // The status shows this, too, until the medium has the state after all.
      if (this.#wanted !== undefined) this.#setProblem(slow);
      throw new RobotError('not-kept', { cure: slow.context.cure });
    }
    if (this.#problem === undefined) return;
    const { cure } = this.#problem.context;
    throw new RobotError('not-kept', { cure }, { cause: this.#problem });
  }

  /** Resolves when everything that was asked before has ended. */
  async close(): Promise<void> {
    this.#again?.cancel();
    await this.#writing;
    this.#again?.cancel();
  }

  #writeNext(): void {
    this.#writing = this.#writing
      .then(() => this.#write())
      .then(() => {
        this.#isStuck = false;
      });
  }

  /** Writes the newest state; older ones that were not written yet are left out. */
  async #write(): Promise<void> {
    const state = this.#wanted;
    if (state === undefined) return;
    try {
      await replaceFile(this.#disk, this.#path, [encode(this.#recorded(state))]);
      this.#kept = state;
      // The record is up to date only when the newest state is on the medium.
      if (this.#wanted !== state) return this.#write();
      this.#wanted = undefined;
      this.#setProblem(undefined);
    } catch (error) {
      this.#setProblem(storageFailure(error));
      this.#again?.cancel();
      this.#again = this.#clock.after(TRY_AGAIN_MS, () => this.#writeNext());
    }
  }

  #setProblem(problem: StorageFailure | undefined): void {
    this.#problem = problem;
    this.changed.emit();
  }

  get #path(): string {
    return join(this.#folder, FILE);
  }

  #recorded({ lock, call, phase, endsAtMs }: MatchState): Recorded {
    const leftMs = endsAtMs === null ? null : endsAtMs - this.#clock.nowMs();
    return {
      lock,
      call,
      phase,
      boot: this.#boot.id ?? null,
      endsAtMs: leftMs === null ? null : this.#boot.nowMs() + leftMs,
    };
  }

  /**
   * Keeps a copy for people. The damaged record stays until the next one is written, so that every start until then
   * finds a lock.
   */
  async #keepCopy(path: string, content: Buffer): Promise<void> {
    await replaceFile(this.#disk, damagedCopy(path, content), [content]).catch(() => undefined);
  }
}

function locked(reason: string): MatchState {
  return { ...NO_MATCH, lock: { by: 'trunnion', reason } };
}

function encode(recorded: Recorded): Buffer {
  const text = JSON.stringify(recorded);
  return Buffer.from(`${JSON.stringify({ recorded, sha256: sha256(text) })}\n`);
}

/**
 * The recorded state; undefined where the checksum is wrong. With a right checksum it was written by us, so its members
 * are what they should be.
 */
function decode(content: Buffer): Recorded | undefined {
  try {
    const { recorded, sha256: sum } = JSON.parse(content.toString());
    const isOurs = sum === sha256(JSON.stringify(recorded)) && PHASES.includes(recorded.phase);
    return isOurs ? recorded : undefined;
  } catch {
    return undefined;
  }
}
