import { type Clock, pause, unlessAborted } from '../core/clock.js';
import { asRobotError, isRobotError, passes, RobotError } from '../core/errors.js';
import { requireInTime } from '../core/not-after.js';
import { isUnitName, MAX_HOLD_MS, type Rates, type UnitName } from '../core/units.js';
import type { MotorUnit } from './motor-unit.js';
import type { Permission } from './request-gate.js';
import { type DriverName, isSameDriver } from './wanted.js';

type UnitRates = Readonly<Partial<Record<UnitName, Rates>>>;

/** How fast the named units shall move, and for how long. A unit that is not named keeps its motion. */
export interface DriveCommand extends DriverName {
  readonly rates: UnitRates;
  /** The earliest time at which the command may have come (Clock milliseconds). It holds from then on. */
  readonly receivedMs: number;
  readonly holdMs: number;
  /** The caller does not want the command after this time. */
  readonly notAfterMs: number | undefined;
  /** Whether the caller takes a unit that another caller drives. */
  readonly takeover: boolean;
  /** Throws if the caller has hung up or lost the right. */
  readonly stillWanted: () => void;
  /** Throws if a tuning runs on the unit. */
  readonly requireUntuned: (unit: UnitName) => void;
}

interface DriveParts {
  readonly units: Readonly<Record<UnitName, MotorUnit>>;
  readonly clock: Clock;
  readonly permission: Permission;
  readonly isStopped: () => boolean;
  /** The shortest time between two frames that move a unit. */
  readonly frameEveryMs: number;
}

/** One unit cannot move: no other one gets a frame that moves it, unless it has one already. What stops a unit goes on. */
function endMotions({ rates, left }: PendingCommand, why: RobotError): void {
  for (const [name, wait] of left) if (!isStill(rates[name] ?? {})) wait.abort(why);
}

function isStill(rates: Rates): boolean {
  return Object.values(rates).every(rate => rate === 0);
}

/** A command with less time than this is not sent, because it would end before it moves anything. */
const LEAST_HOLD_MS = 10;

/** The shortest time between two halts of a unit that nobody has moved meanwhile. */
const HALT_EVERY_MS = 20;

/** A command that is being carried out. */
interface PendingCommand extends DriveCommand {
  readonly holdsUntilMs: number;
  /** No frame is sent after this time, and none holds longer. A command to halt has no hold that could be over. */
  readonly sendUntilMs: number;
  /** True if the command stops what it names. Such a command does not wait for the next poll. */
  readonly isHalt: boolean;
  /** The named units that no newer command names. A newer one aborts the wait for its unit with `overtaken`. */
  readonly left: Map<UnitName, AbortController>;
}

/**
 * Returns a function that carries out drive commands. Nothing queues: each unit has at most one command that is not
 * answered, and a newer one takes its place there. The controller ends each motion by itself, so no command outlives its hold.
 */
export function driveOf({ units, clock, permission, isStopped, frameEveryMs }: DriveParts) {
  const newest = new Map<UnitName, PendingCommand>();
  const sentMs = new Map<UnitName, number>();
  /** When the newest halt of each unit was sent, if no motion was sent since. */
  const haltSentMs = new Map<UnitName, number>();
  /** When the newest halt of each unit was accepted. A command that may be older than that halt moves nothing. */
  const haltedMs = new Map<UnitName, number>();

  /** Throws the first reason, in the documented order, for which no unit may move. */
  const requireAllowed = (command: PendingCommand): void => {
    const { sendUntilMs, left, notAfterMs, requireUntuned, stillWanted, takeover } = command;
    const nowMs = clock.nowMs();
    const each = (require: (unit: MotorUnit) => void) => {
      for (const name of left.keys()) require(units[name]);
    };
    stillWanted();
    if (nowMs > sendUntilMs - LEAST_HOLD_MS) throw new RobotError('too-late');
    requireInTime(notAfterMs, nowMs);
    permission.require({ kind: 'drive' });
    each(unit => unit.requireOnline());
    if (isStopped()) throw new RobotError('stopped');
    each(unit => unit.requireManual());
    each(unit => requireUntuned(unit.name));
    each(({ name: unit, driver }) => {
      if (!takeover && driver !== undefined && !isSameDriver(driver, command))
        throw new RobotError('driven', { unit, by: driver.by });
    });
    if (left.size === 0) throw new RobotError('overtaken');
    each(unit => {
      if (!unit.flags.includes('motion')) throw new RobotError('not-drivable', { unit: unit.name });
    });
  };

  /** As `requireAllowed`, for a command that was accepted. It moves nothing once something has ended its driving. */
  const requireStillAllowed = (command: PendingCommand): void => {
    requireAllowed(command);
    for (const name of command.left.keys()) {
      const { driver } = units[name];
      if (driver === undefined || !isSameDriver(driver, command)) throw new RobotError('too-late');
    }
  };

  /** Resolves when the units may get frames again. A halt waits only if none of them was moved since the last halt. */
  const turnOf = async ({ isHalt, left }: PendingCommand): Promise<void> => {
    const waits = [...left].map(([name, { signal }]) => {
      const lastMs = (isHalt ? haltSentMs : sentMs).get(name) ?? Number.NEGATIVE_INFINITY;
      return { signal, ms: lastMs + (isHalt ? HALT_EVERY_MS : frameEveryMs) - clock.nowMs() };
    });
    if (isHalt && waits.some(({ ms }) => ms <= 0)) return;
    await Promise.allSettled(
      waits.filter(({ ms }) => ms > 0).map(({ signal, ms }) => unlessAborted(signal, pause(clock, ms))),
    );
  };

  const send = async (command: PendingCommand): Promise<UnitRates> => {
    const { sendUntilMs, isHalt, left } = command;
    /** The units that may have got a frame. */
    const reached = new Set<UnitName>();
    const sent = [...left];
    const ends = await Promise.allSettled(
      sent.map(async ([name, { signal }]) => {
        const holdMs = () => {
          requireStillAllowed(command);
          signal.throwIfAborted();
          reached.add(name);
          if (!isHalt) units[name].drives();
          (isHalt ? haltSentMs : sentMs).set(name, clock.nowMs());
          if (!isHalt) haltSentMs.delete(name);
          return Math.max(0, Math.floor(sendUntilMs - clock.nowMs()));
        };
        const mayRepeat = () => !signal.aborted && passes(() => requireStillAllowed(command));
        const move = units[name].move(command.rates[name] ?? {}, holdMs, sendUntilMs, mayRepeat);
        try {
          return [name, await unlessAborted(signal, move)] as const;
        } catch (error) {
          if (!signal.aborted) endMotions(command, new RobotError('overtaken'));
          throw error;
        }
      }),
    );
    const moved = ends.flatMap(end => (end.status === 'fulfilled' ? [end.value] : []));
    const errors: unknown[] = ends.flatMap(end => (end.status === 'rejected' ? [end.reason] : []));
    const error = errors.find(one => !isRobotError(one, 'overtaken'));
    if (error === undefined && moved.length > 0) return Object.fromEntries(moved);
    for (const name of left.keys()) {
      haltSentMs.delete(name);
      if (reached.has(name)) void units[name].halt();
    }
    // A frame has waited for the bus until its time was over. Too late would say that no unit has moved.
    if (isRobotError(error, 'bus-busy') || isRobotError(error, 'too-late')) {
      const unit = sent[ends.findIndex(end => end.status === 'rejected' && end.reason === error)]?.[0];
      const isAlone = [...reached].every(name => name === unit);
      throw isAlone
        ? new RobotError('too-late', {}, { cause: error })
        : new RobotError('bus-busy', unit === undefined ? {} : { unit }, { cause: error });
    }
    throw asRobotError(error ?? errors[0]);
  };

  /**
   * Resolves with the rates that the controllers show, or show no longer because the hold has passed. A unit that a newer
   * command names is left out. Rejects if one unit cannot move; then no unit that is left keeps moving.
   */
  return async (asked: DriveCommand): Promise<UnitRates> => {
    const { rates, receivedMs, holdMs } = asked;
    const left = new Map(
      Object.keys(rates)
        .filter(isUnitName)
        .map(name => [name, new AbortController()]),
    );
    const isHalt = Object.values(rates).every(isStill);
    const nowMs = clock.nowMs();
    const holdsUntilMs = (isHalt ? nowMs : receivedMs) + holdMs;
    const sendUntilMs = isHalt ? nowMs + MAX_HOLD_MS : holdsUntilMs;
    const command: PendingCommand = { ...asked, holdsUntilMs, sendUntilMs, isHalt, left };
    for (const name of left.keys())
      if (!isHalt && receivedMs < (haltedMs.get(name) ?? Number.NEGATIVE_INFINITY)) left.delete(name);
    requireAllowed(command);
    for (const name of left.keys()) {
      const older = newest.get(name);
      older?.left.get(name)?.abort(new RobotError('overtaken'));
      older?.left.delete(name);
      // Another driver takes this unit: the older command moves none.
      if (older !== undefined && !isSameDriver(older, command))
        endMotions(older, new RobotError('driven', { unit: name, by: command.by }));
      newest.set(name, command);
      if (isHalt) haltedMs.set(name, clock.nowMs());
      units[name].begin(command, command.holdsUntilMs);
    }
    try {
      await turnOf(command);
      requireStillAllowed(command);
      return await send(command);
    } finally {
      for (const name of left.keys()) newest.delete(name);
    }
  };
}
