import { type Clock, pause, unlessAborted } from '../core/clock.js';
import { asRobotError, isRobotError, passes, RobotError } from '../core/errors.js';
import { requireInTime } from '../core/not-after.js';
import { isUnitName, type Rates, type UnitName } from '../core/units.js';
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
  /** Throws if the caller has hung up or lost the right. Only what moves a unit needs its caller. */
  readonly stillWanted: () => void;
  /** As `stillWanted`, once a hang-up from before the command was read would be known. */
  readonly stillConnected: () => Promise<void>;
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

/** A command with less time than this is not sent, because it would end before it moves anything. */
const LEAST_HOLD_MS = 10;

/** The part of a command that moves units, while it is not answered. */
interface PendingMove extends DriveCommand {
  /** No frame is sent after this time, and none holds longer. */
  readonly holdsUntilMs: number;
  /** The units that it moves and that no newer command names. A newer one aborts the wait for its unit with `overtaken`. */
  readonly left: Map<UnitName, AbortController>;
  /** The units that its frames, or those of the unanswered commands whose place it took, may move. */
  readonly reached: Set<UnitName>;
}

/** What became of one unit of a command. */
type UnitEnd = { readonly name: UnitName } & ({ readonly rates: Rates } | { readonly error: unknown });

function isStill(rates: Rates): boolean {
  return Object.values(rates).every(rate => rate === 0);
}

/** One unit cannot move: no other one gets a frame that moves it, unless it has one already. */
function endMotions({ left }: PendingMove, why: RobotError): void {
  for (const wait of left.values()) wait.abort(why);
}

function ratesOf(ends: readonly UnitEnd[]): UnitRates {
  return Object.fromEntries(ends.flatMap(end => ('rates' in end ? [[end.name, end.rates]] : [])));
}

/** Resolves with the end of this unit. Never rejects. */
async function endOf(name: UnitName, rates: Promise<Rates>): Promise<UnitEnd> {
  try {
    return { name, rates: await rates };
  } catch (error) {
    return { name, error };
  }
}

/**
 * Returns a function that carries out drive commands. Rates of 0 halt their unit, each unit by itself. What a command moves
 * moves together, or not at all. Nothing queues: each unit has at most one command that is not answered, and a newer one takes
 * its place there. The controller ends each motion by itself, so no command outlives its hold.
 */
export function driveOf({ units, clock, permission, isStopped, frameEveryMs }: DriveParts) {
  const newest = new Map<UnitName, PendingMove>();
  /** Counts commands as they come. */
  let count = 0;
  /** The number of the newest command for each unit that was accepted. */
  const accepted = new Map<UnitName, number>();
  const sentMs = new Map<UnitName, number>();

  /** Throws the first reason, in the documented order, for which these units may not get a frame of the command. */
  const requireAllowed = (command: DriveCommand, names: readonly UnitName[], latestMs: number): void => {
    const { notAfterMs, requireUntuned, takeover } = command;
    const nowMs = clock.nowMs();
    const each = (require: (unit: MotorUnit) => void) => {
      for (const name of names) require(units[name]);
    };
    if (nowMs > latestMs - LEAST_HOLD_MS) throw new RobotError('too-late');
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
    if (names.length === 0) throw new RobotError('overtaken');
    each(unit => {
      if (!unit.flags.includes('motion')) throw new RobotError('not-drivable', { unit: unit.name });
    });
  };

  const requireMayMove = (move: PendingMove): void => {
    move.stillWanted();
    requireAllowed(move, [...move.left.keys()], move.holdsUntilMs);
  };

  /** Throws if something has ended the driving of a command that was accepted. It moves nothing then. */
  const requireUnended = (move: PendingMove): void => {
    for (const name of move.left.keys()) {
      const { driver } = units[name];
      if (driver === undefined || !isSameDriver(driver, move)) throw new RobotError('overtaken');
    }
  };

  const requireStillMayMove = (move: PendingMove): void => {
    requireMayMove(move);
    requireUnended(move);
  };

  /** The command drives the unit from now on. It takes the place of one that is not answered. */
  const accept = (name: UnitName, command: DriveCommand, number: number, holdsUntilMs: number): void => {
    accepted.set(name, number);
    const older = newest.get(name);
    newest.delete(name);
    older?.left.get(name)?.abort(new RobotError('overtaken'));
    older?.left.delete(name);
    // Another driver takes this unit: the older command moves none.
    if (older !== undefined && !isSameDriver(older, command))
      endMotions(older, new RobotError('driven', { unit: name, by: command.by }));
    units[name].begin(command, holdsUntilMs);
  };

  const halt = (name: UnitName, command: DriveCommand, number: number): Promise<UnitEnd> => {
    const nowMs = clock.nowMs();
    units[name].rest(nowMs);
    accept(name, command, number, nowMs + command.holdMs);
    return endOf(name, units[name].halt());
  };

  /** Whether a refused command still halts this unit: its driver lets go of it. No halt is too late for that. */
  const isLetGo = (name: UnitName, command: DriveCommand): boolean => {
    const { driver } = units[name];
    const isDriver = driver !== undefined && isSameDriver(driver, command);
    const timeless = { ...command, notAfterMs: undefined };
    return isDriver && passes(() => requireAllowed(timeless, [name], Number.POSITIVE_INFINITY));
  };

  /** Resolves when the unit may get the next frame that moves it. */
  const turnOf = async (name: UnitName): Promise<void> => {
    await units[name].haltEnded();
    const waitMs = (sentMs.get(name) ?? Number.NEGATIVE_INFINITY) + frameEveryMs - clock.nowMs();
    if (waitMs > 0) await pause(clock, waitMs);
  };

  /** Moves what is left of the command. Resolves when the halts of the same command are answered too. */
  const send = async (move: PendingMove, halted: readonly Promise<UnitEnd>[]): Promise<UnitRates> => {
    const { holdsUntilMs, left, rates, reached } = move;
    const frame = async (name: UnitName, { signal }: AbortController): Promise<UnitEnd> => {
      const holdMs = () => {
        requireStillMayMove(move);
        signal.throwIfAborted();
        reached.add(name);
        units[name].drives();
        sentMs.set(name, clock.nowMs());
        return Math.max(0, Math.floor(holdsUntilMs - clock.nowMs()));
      };
      const moved = units[name].move(rates[name] ?? {}, holdMs, holdsUntilMs, () => {
        signal.throwIfAborted();
        requireUnended(move);
      });
      const end = await endOf(name, unlessAborted(signal, moved));
      if ('error' in end && !signal.aborted) endMotions(move, new RobotError('overtaken'));
      return end;
    };
    for (const one of halted)
      void one.then(end => {
        if ('error' in end) endMotions(move, new RobotError('overtaken'));
      });
    const ends = await Promise.all([...halted, ...[...left].map(([name, wait]) => frame(name, wait))]);
    const failed = ends.flatMap(end => ('error' in end ? [end] : []));
    const first = failed.find(({ error }) => !isRobotError(error, 'overtaken'));
    const isMoving = ends.some(end => 'rates' in end && left.has(end.name));
    if (failed.length === 0 || (first === undefined && isMoving)) return ratesOf(ends);
    const { name: unit, error } = first ?? failed[0] ?? {};
    // A frame has waited for the bus until its time was over. Too late would say that no unit has moved.
    const isOfMove = unit !== undefined && !isStill(rates[unit] ?? {});
    if (isOfMove && (isRobotError(error, 'bus-busy') || isRobotError(error, 'too-late')))
      throw reached.size === 0
        ? new RobotError('too-late', {}, { cause: error })
        : new RobotError('bus-busy', { unit }, { cause: error });
    throw asRobotError(error);
  };

  /**
   * Resolves with the rates that the controllers show, or show no longer because the hold has passed. A unit that a newer
   * command names is left out. Rejects if one unit cannot get its frame; then no unit that is left keeps moving.
   */
  return async (asked: DriveCommand): Promise<UnitRates> => {
    const { rates, receivedMs, holdMs } = asked;
    count += 1;
    const number = count;
    const names = Object.keys(rates).filter(isUnitName);
    const still = names.filter(name => isStill(rates[name] ?? {}));
    const moving = names.filter(name => !still.includes(name));
    const holdsUntilMs = receivedMs + holdMs;
    try {
      // A halt has no hold that could be over.
      requireAllowed(asked, names, moving.length > 0 ? holdsUntilMs : Number.POSITIVE_INFINITY);
    } catch (error) {
      for (const name of still) if (isLetGo(name, asked)) void halt(name, asked, number);
      throw error;
    }
    const halted = still.map(name => halt(name, asked, number));
    if (moving.length === 0) {
      const ends = await Promise.all(halted);
      for (const end of ends) if ('error' in end) throw asRobotError(end.error);
      return ratesOf(ends);
    }
    await asked.stillConnected();
    const isNewest = (name: UnitName) =>
      receivedMs >= units[name].restedMs && number > (accepted.get(name) ?? 0);
    for (const name of moving) {
      const { driver } = units[name];
      const isOther = driver !== undefined && !isSameDriver(driver, asked);
      if (isOther && driver.sinceMs >= receivedMs && !isNewest(name)) throw new RobotError('overtaken');
    }
    const left = new Map(moving.filter(isNewest).map(name => [name, new AbortController()]));
    const move: PendingMove = { ...asked, holdsUntilMs, left, reached: new Set() };
    requireMayMove(move);
    for (const name of left.keys()) {
      if (newest.get(name)?.reached.has(name)) move.reached.add(name);
      accept(name, asked, number, holdsUntilMs);
      newest.set(name, move);
    }
    try {
      await Promise.allSettled([...left].map(([name, { signal }]) => unlessAborted(signal, turnOf(name))));
      requireStillMayMove(move);
      return await send(move, halted);
    } catch (error) {
      // This command, or one whose place it took, may move these units.
      for (const name of left.keys())
        if (move.reached.has(name)) void endOf(name, units[name].halt());
        else units[name].waitsNoMore();
      throw error;
    } finally {
      for (const name of left.keys()) newest.delete(name);
    }
  };
}
