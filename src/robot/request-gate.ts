import type { Clock } from '../core/clock.js';
import { RobotError } from '../core/errors.js';
import type { Unit } from '../core/units.js';
import type { Act, Permission } from './permission.js';
import type { Turns } from './turns.js';
import type { UnitState } from './unit-state.js';
import type { UnitSupervision } from './unit-supervision.js';

/** A request's last frame ends so long after its arrival, so that its caller is answered within a second. */
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
   * An act that somebody asked for. Only saves are let through while the robot is stopped or being released.
   * `stillWanted` throws when what was asked is not wanted any more, such as `caller-gone`.
   */
  request<T>(
    act: Act,
    stillWanted: (() => void) | undefined,
    perform: (untilMs: number) => Promise<T>,
  ): Promise<T> {
    return this.inTurn(() => this.require(act, stillWanted), perform);
  }

  /** By when the last frame of a request has to end that comes now. */
  get deadlineMs(): number {
    return this.#clock.nowMs() + REQUEST_MS;
  }

  /** Throws where `request` would refuse, but for a controller that is offline. */
  require(act: Act, stillWanted: (() => void) | undefined): void {
    this.#permission.require(act);
    if (act.kind !== 'save') this.#requireReleased();
    stillWanted?.();
  }

  /** One request at a time talks to the controller. What was allowed when it came may not be when its turn comes. */
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

  #requireReleased(): void {
    if (this.#state.latch.isWanted) throw new RobotError('stopped');
    this.requireOnline();
    if (this.#state.latch.isReleasing) throw new RobotError('unit-busy', { unit: this.#unit.name });
  }

  requireOnline(): void {
    const { online, problem } = this.#supervision;
    if (!online) throw new RobotError('unit-offline', { unit: this.#unit.name }, { cause: problem });
  }
}
