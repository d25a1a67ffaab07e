import type { Clock } from '../core/clock.js';
import { asRobotError, isRobotError, RobotError } from '../core/errors.js';
import { requireInTime } from '../core/not-after.js';
import { isUnitName, type Rates, type UnitName } from '../core/units.js';
import type { MotorUnit } from './motor-unit.js';
import type { Permission } from './request-gate.js';
import { type DriverName, isSameDriver } from './wanted.js';

type UnitRates = Readonly<Partial<Record<UnitName, Rates>>>;

/** How fast the named units shall move, and for how long. A unit that is not named keeps its motion. */
export interface DriveCommand extends DriverName {
  readonly rates: UnitRates;
  /** The time at which the daemon received the command (Clock milliseconds). The command holds from then on. */
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

/** A command with less time than this is not sent, because it would end before it moves anything. */
const LEAST_HOLD_MS = 10;

/** A command that is being carried out, until a newer one takes its place. */
class Ask {
  readonly command: DriveCommand;
  readonly names: readonly UnitName[];
  readonly holdsUntilMs: number;
  /** True if the command stops what it names. Such a command is sent at once. */
  readonly isHalt: boolean;
  isOvertaken = false;
  readonly #overtaken: Promise<never>;
  #reject: (error: RobotError) => void = () => undefined;

  constructor(command: DriveCommand) {
    const { rates, receivedMs, holdMs } = command;
    this.command = command;
    this.names = Object.keys(rates).filter(isUnitName);
    this.holdsUntilMs = receivedMs + holdMs;
    this.isHalt = Object.values(rates).every(one => Object.values(one).every(rate => rate === 0));
    this.#overtaken = new Promise((_, reject) => {
      this.#reject = reject;
    });
    this.#overtaken.catch(() => undefined);
  }

  overtake(): void {
    this.isOvertaken = true;
    this.#reject(new RobotError('overtaken'));
  }

  /** Resolves as `work` does. Rejects with `overtaken` as soon as a newer command takes the place of this one. */
  unlessOvertaken<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, this.#overtaken]);
  }
}

/**
 * Carries out drive commands. Nothing queues: each unit has at most one command that is not answered, and a newer one takes
 * its place. The controller ends each motion by itself, so no command outlives its hold.
 */
export class Drive {
  readonly #parts: DriveParts;
  readonly #newest = new Map<UnitName, Ask>();
  readonly #sentMs = new Map<UnitName, number>();

  constructor(parts: DriveParts) {
    this.#parts = parts;
  }

  /**
   * Resolves with the rates that the controllers show, or show no longer because the hold has passed. Rejects if one unit
   * cannot move; then no unit that is named keeps moving.
   */
  async command(command: DriveCommand): Promise<UnitRates> {
    const ask = new Ask(command);
    this.#require(ask);
    for (const name of ask.names) {
      this.#newest.get(name)?.overtake();
      this.#newest.set(name, ask);
    }
    try {
      if (!ask.isHalt) await ask.unlessOvertaken(this.#turnOf(ask));
      this.#require(ask);
      for (const name of ask.names) this.#parts.units[name].begin(command, ask.holdsUntilMs);
      return await this.#send(ask);
    } finally {
      for (const name of ask.names) if (this.#newest.get(name) === ask) this.#newest.delete(name);
    }
  }

  /** Throws the first reason, in the documented order, for which no unit may move. */
  #require({ command, names, holdsUntilMs, isOvertaken }: Ask): void {
    const { clock, permission, units, isStopped } = this.#parts;
    const { notAfterMs, stillWanted, requireUntuned, takeover } = command;
    const nowMs = clock.nowMs();
    const each = (require: (unit: MotorUnit) => void) => {
      for (const name of names) require(units[name]);
    };
    stillWanted();
    if (nowMs > holdsUntilMs - LEAST_HOLD_MS) throw new RobotError('too-late');
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
    if (isOvertaken) throw new RobotError('overtaken');
    each(unit => {
      if (!unit.flags.includes('motion')) throw new RobotError('not-drivable', { unit: unit.name });
    });
  }

  /** Resolves when each named unit may get a frame again. */
  async #turnOf({ names }: Ask): Promise<void> {
    const { clock, frameEveryMs } = this.#parts;
    const lastMs = Math.max(...names.map(name => this.#sentMs.get(name) ?? Number.NEGATIVE_INFINITY));
    const waitMs = lastMs + frameEveryMs - clock.nowMs();
    if (waitMs > 0) await new Promise<void>(resolve => clock.after(waitMs, resolve));
  }

  async #send(ask: Ask): Promise<UnitRates> {
    const { clock, units } = this.#parts;
    const ends = await Promise.allSettled(
      ask.names.map(async name => {
        const rates = ask.command.rates[name] ?? {};
        const holdMs = () => {
          this.#require(ask);
          if (!ask.isHalt) this.#sentMs.set(name, clock.nowMs());
          return Math.floor(ask.holdsUntilMs - clock.nowMs());
        };
        const shown = await ask.unlessOvertaken(units[name].move(rates, holdMs, ask.holdsUntilMs));
        return [name, shown] as const;
      }),
    );
    const failed = ends.find(end => end.status === 'rejected');
    if (failed === undefined)
      return Object.fromEntries(ends.flatMap(end => (end.status === 'fulfilled' ? [end.value] : [])));
    const error: unknown = failed.reason;
    for (const name of ask.names) if (this.#newest.get(name) === ask) void units[name].halt();
    // The frame has waited for the bus until its time was over.
    throw isRobotError(error, 'bus-busy')
      ? new RobotError('too-late', {}, { cause: error })
      : asRobotError(error);
  }
}
