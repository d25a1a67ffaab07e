import type { Clock } from '../core/clock.js';
import { RobotError } from '../core/errors.js';
import type { Unit } from '../core/units.js';
import type { Act, Permission } from './permission.js';
import type { Turns } from './turns.js';
import type { UnitState } from './unit-state.js';
import type { UnitSupervision } from './unit-supervision.js';

/**
 * The last frame of a request ends at most this long after the request came, so that its caller is answered within a
 * second.
 */
const REQUEST_MS = 350;

/** Lets requests through to a controller, one at a time, as long as they are allowed. */
export class RequestGate {
  readonly #unit: Unit;
  readonly #clock: Clock;
  readonly #turns: Turns;
  readonly #permission: Permission;
  readonly #state: UnitState;
  readonly #supervision: UnitSupervision;

  constructor(options: {
    unit: Unit;
    clock: Clock;
    turns: Turns;
    permission: Permission;
    state: UnitState;
    supervision: UnitSupervision;
  }) {
    this.#unit = options.unit;
    this.#clock = options.clock;
    this.#turns = options.turns;
    this.#permission = options.permission;
    this.#state = options.state;
    this.#supervision = options.supervision;
  }

  /**
   * Performs an act that somebody asked for, unless the robot is stopped or being released. `stillWanted` throws when
   * the caller no longer wants it, for example with `caller-gone`.
   */
  request<T>(
    act: Act,
    stillWanted: (() => void) | undefined,
    perform: (untilMs: number) => Promise<T>,
  ): Promise<T> {
    const requireAllowed = () => {
      this.requireNotOvertaken(act);
      this.requireOnline();
      if (this.#state.latch.isReleasing) throw new RobotError('unit-busy', { unit: this.#unit.name });
      stillWanted?.();
    };
    return this.inTurn(requireAllowed, perform);
  }

  /** The time at which the last frame has to end of a request that comes now. */
  get deadlineMs(): number {
    return this.#clock.nowMs() + REQUEST_MS;
  }

  /** Throws where a stop or the match forbids the act. Acts that take long ask again before they count as done. */
  requireNotOvertaken(act: Act): void {
    this.#permission.require(act);
    if (this.#state.latch.isWanted) throw new RobotError('stopped');
  }

  /**
   * Performs in the unit's turn, since one request at a time talks to the controller. `requireAllowed` is called when
   * the request comes and again when its turn comes, for a match may have forbidden it meanwhile.
   */
  async inTurn<T>(
    requireAllowed: () => void,
    perform: (untilMs: number) => Promise<T>,
    untilMs = this.deadlineMs,
  ): Promise<T> {
    requireAllowed();
    this.requireOnline();
    return this.#turns.take(untilMs, () => {
      requireAllowed();
      return perform(untilMs);
    });
  }

  requireOnline(): void {
    const { online, problem } = this.#supervision;
    if (!online) throw new RobotError('unit-offline', { unit: this.#unit.name }, { cause: problem });
  }
}
