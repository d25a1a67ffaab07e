import type { Logger } from 'pino';
import { allEnded, describeError, isRobotError, RobotError } from '../core/errors.js';
import type { Permissions } from '../core/phases.js';
import type { Robot } from '../robot/robot.js';
import type { MatchStatus } from '../schemas/match.js';
import type { StateFile } from '../storage/state-file.js';
import { isAllowed, type Lock, type Match, type MatchCall, type MatchState } from './match.js';

/** The caller of a lock or a phase is answered within this time, even if the disk has not stored the change yet. */
const SAVE_MS = 800;

interface MatchControlParts {
  readonly match: Match;
  readonly robot: Robot;
  readonly file: StateFile<MatchState>;
  readonly log: Logger;
}

export type MatchControl = ReturnType<typeof obeyMatch>;

/**
 * Makes the robot obey the match. If the match forbids something that runs, stops the robot and darkens the laser. Call
 * this before supervision begins, so that nothing forbidden can start.
 */
export function obeyMatch({ match, robot, file, log }: MatchControlParts) {
  const stopByItself = (why: string) => {
    robot.stop(why).catch((error: unknown) => {
      log.error({ ...describeError(error), why }, 'a stop is not confirmed');
    });
  };
  /** Rejects with `not-kept` if a restart may find an older state. If the disk hangs, this does not wait for it again. */
  const keep = () =>
    file.save(match.state, file.isStuck ? 0 : SAVE_MS).catch((cause: unknown) => {
      const cure = isRobotError(cause, 'storage-failed') ? cause.context.cure : undefined;
      throw new RobotError('not-kept', { cure }, { cause });
    });
  /** Whether something that the phase forbids may be running. A controller that was never heard from may run anything. */
  const runsForbidden = () => {
    if (robot.stopped) return false;
    const { drive, tune, modes } = match.allows;
    if (!drive) return true;
    return Object.values(robot.units).some(({ modeUnderTorque: mode, trial }) => {
      const isOtherMode = mode === null ? modes.length === 0 : !modes.includes(mode);
      return isOtherMode || (trial !== undefined && !tune);
    });
  };
  const obeyPhase = () => {
    const { laser, drive } = match.allows;
    const mayBeLit = laser ? undefined : robot.laser.darken('phase without light');
    // A stopped robot is stopped again, because a resume may be in flight, or the last stop not confirmed.
    const stopped = !drive || runsForbidden() ? robot.stop(`phase ${match.state.phase}`) : undefined;
    return allEnded([mayBeLit && Promise.reject(mayBeLit), stopped, keep()]);
  };
  /** What the phase allows now: less if a lock, a lost referee or a stop forbids it. */
  const allowedNow = (): Permissions => {
    const { allows, state, refereeLost } = match;
    if (state.lock !== null || refereeLost) {
      return { drive: false, laser: false, tune: false, resume: false, modes: [] };
    }
    const now = { ...allows, resume: isAllowed({ kind: 'resume' }, allows) };
    return robot.stopped ? { ...now, drive: false, laser: false, modes: [] } : now;
  };

  match.mustStop.add(stopByItself);
  const { lock, phase } = match.state;
  const reason = lock !== null ? 'locked' : match.refereeLost ? 'restarted within a match' : `phase ${phase}`;
  if (match.forbidsMotion) stopByItself(reason);
  match.changed.add(() => void keep().catch(() => undefined));
  // A controller that appears may be in a mode that the phase does not allow.
  robot.changed.add(() => {
    if (runsForbidden()) stopByItself(`motion is not allowed in phase ${match.state.phase}`);
  });
  return {
    match,
    /** The match as status shows it. */
    get status(): MatchStatus {
      const { call, phase, endsAtMs, lock } = match.state;
      const { owner, isExpired } = match.lease;
      return {
        id: call?.id ?? null,
        revision: call?.revision ?? 0,
        phase,
        endsAtT: endsAtMs === null ? null : endsAtMs / 1000,
        lock,
        lease: owner && { ...owner, ...(isExpired && { expired: true }) },
        refereeSilent: match.refereeSilent,
        allows: allowedNow(),
        recorded: file.problem === undefined,
      };
    },
    /**
     * Locks the robot, and stops it for the caller `by`. The lock holds even if this rejects. Rejects as a stop does, or with
     * `not-kept`.
     */
    lock: async (lock: Lock, by = lock.by): Promise<void> => {
      match.lock(lock);
      await allEnded([robot.stop(`locked by ${by}`), keep()]);
    },
    /**
     * Unlocks; the robot stays stopped. Rejects with `lock-changed` if the lock has another id, with `not-kept` if a
     * restart would lock again.
     */
    unlock: async (id?: string): Promise<void> => {
      match.unlock(id);
      await keep();
    },
    /**
     * Sets the phase. Rejects as `Match.set` throws, as a stop does, or with `not-kept`. In the last two cases the
     * phase holds.
     */
    set: async (call: MatchCall, by: string, sinceMs?: number): Promise<void> => {
      match.set(call, by, sinceMs);
      await obeyPhase();
    },
    /**
     * Ends the match. Rejects with `wrong-phase`, as a stop does, or with `not-kept`. In the last two cases the phase
     * holds.
     */
    end: async (): Promise<void> => {
      match.end();
      await obeyPhase();
    },
    /** Leaves the match; a stopped robot stays stopped. Rejects as `end`. */
    clear: async (): Promise<void> => {
      match.clear();
      await obeyPhase();
    },
  };
}
