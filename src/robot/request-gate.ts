import { type Clock, endedWithin } from '../core/clock.js';
import { RobotError } from '../core/errors.js';
import type { Mode, Unit } from '../core/units.js';
import type { UnitState } from './unit-state.js';

/**
 * The last frame of a request ends at most this long after the request arrived, so that the caller is answered within
 * a second.
 */
const REQUEST_MS = 350;

/** The acts that a match may forbid, besides those that a stop forbids. */
export type Act =
  | { readonly kind: 'mode'; readonly mode: Mode }
  | { readonly kind: 'excite' | 'save' | 'trial' | 'light' | 'resume' };

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
export class RequestGate {
  readonly #parts: GateParts;
  #lastTurn: Promise<unknown> = Promise.resolve();

  constructor(parts: GateParts) {
    this.#parts = parts;
  }

  /**
   * Performs a caller's act, unless the robot is stopped or being released. `stillWanted` throws if the caller no
   * longer wants the act, for example with `caller-gone`.
   */
  request<T>(
    act: Act,
    stillWanted: (() => void) | undefined,
    perform: (untilMs: number) => Promise<T>,
  ): Promise<T> {
    const { unit, state } = this.#parts;
    const requireAllowed = () => {
      this.requireNotOvertaken(act);
      this.requireOnline();
      if (state.latch.isReleasing) throw new RobotError('unit-busy', { unit: unit.name });
      stillWanted?.();
    };
    return this.inTurn(perform, requireAllowed);
  }

  /**
   * Performs an act in the unit's turn. `requireAllowed` is called on arrival and again when the turn comes, because
   * a match may forbid the act in between.
   */
  async inTurn<T>(perform: (untilMs: number) => Promise<T>, requireAllowed?: () => void): Promise<T> {
    const untilMs = this.#parts.clock.nowMs() + REQUEST_MS;
    requireAllowed?.();
    this.requireOnline();
    return this.turn(untilMs, () => {
      requireAllowed?.();
      return perform(untilMs);
    });
  }

  /** Performs an act as soon as all earlier turns have ended. Rejects with `unit-busy` if that is after `untilMs`. */
  turn<T>(untilMs: number, perform: () => Promise<T>): Promise<T> {
    const { clock, unit } = this.#parts;
    const before = this.#lastTurn;
    const own = endedWithin(clock, Math.max(0, untilMs - clock.nowMs()), before).then(isFree => {
      if (!isFree) throw new RobotError('unit-busy', { unit: unit.name });
      return perform();
    });
    this.#lastTurn = Promise.allSettled([before, own]);
    return own;
  }

  /**
   * Throws if a stop or the match forbids the act. An act that takes long checks this again before it counts as done.
   */
  requireNotOvertaken(act: Act): void {
    this.#parts.permission.require(act);
    if (this.#parts.state.latch.isWanted) throw new RobotError('stopped');
  }

  allows(act: Act): boolean {
    try {
      this.#parts.permission.require(act);
      return true;
    } catch {
      return false;
    }
  }

  requireOnline(): void {
    const { unit, state } = this.#parts;
    if (!state.online) throw new RobotError('unit-offline', { unit: unit.name }, { cause: state.problem });
  }
}
