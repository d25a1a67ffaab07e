import type { Clock } from '../core/clock.js';
import { allEnded, passes, RobotError } from '../core/errors.js';
import type { UnitName } from '../core/units.js';
import type { Laser } from './laser.js';
import type { MotorUnit } from './motor-unit.js';

/** A stop waits at most this long for its confirmation, so that its caller is answered within a second. */
const STOP_MS = 800;
/** A refused resume tries for this long to latch the units that it released. After that, polls try. */
const LATCH_AGAIN_MS = 100;

/** Records for a restart whether the robot is stopped. */
export interface StopMemory {
  readonly wasStopped: boolean;
  /** Resolves when the record is synced, or when the disk takes too long. */
  record(stopped: boolean): Promise<void>;
}

/** The end of a resume. Callers who share it share a failure too, but not the refusal of the caller who began it. */
interface ResumeEnd {
  readonly end: 'released' | 'failed' | 'refused';
  readonly error?: unknown;
}

interface StopOptions {
  readonly units: readonly MotorUnit[];
  readonly laser: Laser;
  readonly clock: Clock;
  readonly memory: StopMemory | undefined;
  readonly onChange: (stopped: boolean, why: string) => void;
}

/**
 * The stop of the robot, and the resume. Stopped means that the laser is dark and every controller is latched. If a
 * stop and a resume overlap, the stop wins.
 */
export function stopOf(options: StopOptions) {
  const { clock, laser, memory, onChange, units } = options;
  let isStopped = false;
  /** Counts stops, so that a resume notices a stop that came in between. */
  let stops = 0;
  let stoppedMs = Number.NEGATIVE_INFINITY;
  /** The number of stops that are not answered yet. */
  let underWay = 0;
  /** Resolves when the newest stop is recorded, or cannot be recorded in time. */
  let recorded: Promise<void> | undefined;
  let resuming: Promise<ResumeEnd> | undefined;

  /**
   * Stops at once. Resolves when the stop is proven. Rejects with `pin-failed`, with `not-confirmed` naming every
   * unit that may still have torque, or with both. The robot is stopped even if this rejects.
   */
  const stop = async (why = 'asked'): Promise<void> => {
    const pinFailure = begin(why);
    const ownRecord = recorded;
    underWay += 1;
    try {
      const missing = await unconfirmed(clock.nowMs() + STOP_MS);
      if (units.some(unit => !unit.isLatched)) await ownRecord;
      const [first, ...others] = [pinFailure, missing].filter(failure => failure !== undefined);
      if (first !== undefined) throw first.beside(others);
    } finally {
      underWay -= 1;
    }
  };

  /**
   * Ends the stop. A caller who arrives during a resume shares its result. If that resume is cancelled or overtaken by
   * a stop, the next caller starts its own. Rejects with `stopped` if a stop is unanswered, or came after `sinceMs`, the
   * earliest time at which the call may have come.
   */
  const resume = async (stillWanted: () => void, sinceMs: number): Promise<void> => {
    if (underWay > 0 || sinceMs < stoppedMs) throw new RobotError('stopped');
    const before = stops;
    const requireNoStop = () => {
      if (stops !== before) throw new RobotError('stopped');
    };
    while (resuming !== undefined) {
      const { end, error } = await resuming;
      if (end === 'released') return;
      requireNoStop();
      if (end === 'failed') throw error;
    }
    resuming = release(requireNoStop, stillWanted).finally(() => {
      resuming = undefined;
    });
    const { end, error } = await resuming;
    if (end !== 'released') throw error;
  };

  /**
   * Darkens the laser, and lets polls latch every unit, without waiting for anything. Returns an error if the laser
   * may still be lit.
   */
  const begin = (why: string): RobotError | undefined => {
    const pinFailure = laser.darken('stop');
    stops += 1;
    stoppedMs = clock.nowMs();
    recorded = memory?.record(true);
    const isNew = !isStopped;
    // First, so that what a unit ends now is not taken for a cause of another stop.
    isStopped = true;
    for (const unit of units) unit.stop();
    if (isNew) onChange(true, why);
    return pinFailure;
  };

  const release = async (requireNoStop: () => void, stillWanted: () => void): Promise<ResumeEnd> => {
    const requireWanted = () => {
      requireNoStop();
      stillWanted();
    };
    const online = units.filter(unit => unit.online);
    // A unit that goes online during the resume stays latched until the resume is complete.
    for (const unit of online) unit.beginResume();
    try {
      // The record is cleared before the release. In the other order, a restart in between would stop a robot that
      // was released.
      await allEnded([memory?.record(false), ...online.map(unit => unit.enterManual(requireWanted))]);
      await allEnded(online.map(unit => unit.unlatch(requireWanted)));
      requireWanted();
    } catch (error) {
      const end = passes(requireWanted) ? 'failed' : 'refused';
      for (const unit of online) unit.refuseResume();
      const untilMs = clock.nowMs() + LATCH_AGAIN_MS;
      if (isStopped)
        await Promise.allSettled([memory?.record(true), ...online.map(unit => unit.confirmStop(untilMs))]);
      return passes(requireNoStop) ? { end, error } : { end: 'refused', error: new RobotError('stopped') };
    }
    for (const unit of units) unit.released(online.includes(unit));
    if (isStopped) {
      isStopped = false;
      onChange(false, 'asked');
    }
    return { end: 'released' };
  };

  /** Returns an error that names the units that did not confirm, or nothing. */
  const unconfirmed = async (untilMs: number): Promise<RobotError | undefined> => {
    const causes = new Map<UnitName, unknown>();
    const confirm = (one: MotorUnit) => one.confirmStop(untilMs).catch(error => causes.set(one.name, error));
    await Promise.all(units.map(confirm));
    const names = units.map(({ name }) => name).filter(name => causes.has(name));
    const [unit] = names;
    if (unit === undefined) return undefined;
    return new RobotError('not-confirmed', { unit, units: names }, { cause: causes.get(unit) });
  };

  return { stopped: () => isStopped, stop, resume, begin };
}
