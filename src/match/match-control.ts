import type { Logger } from 'pino';
import { allEnded, describeError, isRobotError, RobotError } from '../core/errors.js';
import type { Permissions } from '../core/phases.js';
import type { Robot } from '../robot/robot.js';
import type { MatchStatus } from '../schemas/match.js';
import type { StateFile } from '../storage/state-file.js';
import type { Lock, Match, MatchCall, MatchState } from './match.js';

/** The caller of a lock or a phase is answered within this time, even if the disk has not stored the change yet. */
const SAVE_MS = 800;

/** Makes the robot obey the match. If the match forbids something that runs, stops the robot and darkens the laser. */
export class MatchControl {
  readonly match: Match;
  readonly #robot: Robot;
  readonly #file: StateFile<MatchState>;
  readonly #log: Logger;

  constructor(options: { match: Match; robot: Robot; file: StateFile<MatchState>; log: Logger }) {
    this.match = options.match;
    this.#robot = options.robot;
    this.#file = options.file;
    this.#log = options.log;
  }

  /** The match as status shows it. */
  get status(): MatchStatus {
    const { match } = this;
    const { call, phase, endsAtMs, lock } = match.state;
    return {
      id: call?.id ?? null,
      revision: call?.revision ?? 0,
      phase,
      endsAtT: endsAtMs === null ? null : endsAtMs / 1000,
      lock,
      lease: match.lease.owner,
      refereeSilent: match.refereeSilent,
      allows: this.#allowedNow,
      recorded: this.#file.problem === undefined,
    };
  }

  /** Call this before supervision begins, so that nothing forbidden can start. */
  begin(): void {
    const { match } = this;
    const { lock, phase } = match.state;
    const reason =
      lock !== null ? 'locked' : match.refereeLost ? 'restarted within a match' : `phase ${phase}`;
    if (match.forbidsMotion) this.#stopByItself(reason);
    match.mustStop.add(why => this.#stopByItself(why));
    match.changed.add(() => void this.#keep().catch(() => undefined));
    // A controller that appears may be in a mode that the phase does not allow.
    this.#robot.changed.add(() => {
      if (this.#runsForbidden()) this.#stopByItself(`not allowed in phase ${match.state.phase}`);
    });
  }

  /** Locks and stops. The lock holds even if this rejects. Rejects as a stop does, or with `not-kept`. */
  async lock(lock: Lock): Promise<void> {
    this.match.lock(lock);
    await allEnded([this.#robot.stop(`locked by ${lock.by}`), this.#keep()]);
  }

  /** Unlocks; the robot stays stopped. Rejects with `not-kept` if a restart would lock again. */
  async unlock(): Promise<void> {
    this.match.unlock();
    await this.#keep();
  }

  /**
   * Sets the phase. Rejects as `Match.set` throws, as a stop does, or with `not-kept`. In the last two cases the
   * phase holds.
   */
  async set(call: MatchCall, by: string): Promise<void> {
    this.match.set(call, by);
    await this.#obeyPhase();
  }

  /** Ends the match. The phase holds even if this rejects. Rejects as a stop does, or with `not-kept`. */
  async end(): Promise<void> {
    this.match.end();
    await this.#obeyPhase();
  }

  async #obeyPhase(): Promise<void> {
    const { laser, drive } = this.match.allows;
    const dark = laser ? undefined : this.#darken();
    // A stopped robot is stopped again, because a resume may be in flight, or the last stop not confirmed.
    const stopped =
      !drive || this.#runsForbidden() ? this.#robot.stop(`phase ${this.match.state.phase}`) : undefined;
    await allEnded([dark, stopped, this.#keep()]);
  }

  /** What phase and referee allow, before a lock, a lost referee or a stop is taken into account. */
  get #allowedNow(): Permissions {
    const { allows, state, refereeLost } = this.match;
    if (state.lock !== null || refereeLost) {
      return { drive: false, laser: false, tune: false, resume: false, modes: [] };
    }
    return this.#robot.stopped ? { ...allows, drive: false, laser: false, modes: [] } : allows;
  }

  /**
   * Rejects with `not-kept` if a restart may find an older state. If the disk hangs, this does not wait for it again.
   */
  async #keep(): Promise<void> {
    try {
      await this.#file.save(this.match.state, this.#file.isStuck ? 0 : SAVE_MS);
    } catch (cause) {
      const cure = isRobotError(cause, 'storage-failed') ? cause.context.cure : undefined;
      throw new RobotError('not-kept', { cure }, { cause });
    }
  }

  async #darken(): Promise<void> {
    this.#robot.laser.requireDark('phase without light');
  }

  /**
   * Whether something that the phase forbids may be running. A controller that was never heard from may run anything.
   */
  #runsForbidden(): boolean {
    if (this.#robot.stopped) return false;
    const { drive, tune, modes } = this.match.allows;
    if (!drive) return true;
    return Object.values(this.#robot.units).some(({ modeUnderTorque: mode, trial }) => {
      const isOtherMode = mode === null ? modes.length === 0 : !modes.includes(mode);
      return isOtherMode || (trial !== undefined && !tune);
    });
  }

  #stopByItself(why: string): void {
    this.#robot.stop(why).catch((error: unknown) => {
      this.#log.error({ ...describeError(error), why }, 'a stop is not confirmed');
    });
  }
}
