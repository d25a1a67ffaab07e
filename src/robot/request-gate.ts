import { type Clock, endedWithin } from '../core/clock.js';
import { RobotError } from '../core/errors.js';
import type { Mode, Unit } from '../core/units.js';
import type { UnitState } from './unit-state.js';

/**
 * The last frame of a request ends at most this long after the request arrived, so that the caller is answered within
 * a second.
 */
const REQUEST_MS = 350;

/** The acts that the rules of a match may forbid. */
export type Act =
  | { readonly kind: 'mode'; readonly mode: Mode }
  | { readonly kind: 'drive' | 'excite' | 'save' | 'trial' | 'light' | 'resume' };

/** The rules of a match. They are checked when a request arrives, and again when its turn comes. */
export interface Permission {
  /** Throws a RobotError with the reason when the act is forbidden now. */
  require(act: Act): void;
}

interface GateParts {
  readonly unit: Unit;
  readonly clock: Clock;
  readonly permission: Permission;
  readonly state: UnitState;
}

/** Lets requests through to a controller, one at a time in order of arrival, if they are allowed. */
export function requestGate(parts: GateParts) {
  const { clock, permission, state, unit } = parts;
  let lastTurn: Promise<unknown> = Promise.resolve();

  /**
   * Performs a caller's act, unless the robot is stopped or being released. `stillWanted` throws if the caller no
   * longer wants the act, for example with `caller-gone`.
   */
  const request = <T>(
    act: Act,
    stillWanted: (() => void) | undefined,
    perform: (untilMs: number) => Promise<T>,
  ): Promise<T> => {
    const requireAllowed = () => {
      requireNotOvertaken(act);
      requireOnline();
      if (state.latch.isReleasing) throw new RobotError('unit-busy', { unit: unit.name });
      stillWanted?.();
    };
    return inTurn(perform, requireAllowed);
  };

  /**
   * Performs an act in the unit's turn. `requireAllowed` is called on arrival and again when the turn comes, because
   * a match may forbid the act in between.
   */
  const inTurn = async <T>(
    perform: (untilMs: number) => Promise<T>,
    requireAllowed?: () => void,
  ): Promise<T> => {
    const untilMs = clock.nowMs() + REQUEST_MS;
    requireAllowed?.();
    requireOnline();
    return turn(untilMs, () => {
      requireAllowed?.();
      return perform(untilMs);
    });
  };

  /** Performs an act as soon as all earlier turns have ended. Rejects with `unit-busy` if that is after `untilMs`. */
  const turn = <T>(untilMs: number, perform: () => Promise<T>): Promise<T> => {
    const before = lastTurn;
    const own = endedWithin(clock, Math.max(0, untilMs - clock.nowMs()), before).then(isFree => {
      if (!isFree) throw new RobotError('unit-busy', { unit: unit.name });
      return perform();
    });
    lastTurn = Promise.allSettled([before, own]);
    return own;
  };

  /** Throws if a stop or the match forbids the act. A long act calls this again before it counts as done. */
  const requireNotOvertaken = (act: Act): void => {
    permission.require(act);
    if (state.latch.isWanted) throw new RobotError('stopped');
  };

  const allows = (act: Act): boolean => {
    try {
      permission.require(act);
      return true;
    } catch {
      return false;
    }
  };

  const requireOnline = (): void => {
    if (!state.online) throw new RobotError('unit-offline', { unit: unit.name }, { cause: state.problem });
  };
  return { request, inTurn, turn, requireNotOvertaken, allows, requireOnline };
}
