import type { Clock } from '../core/clock.js';
import { type Deadline, type Deadlines, NEVER } from '../core/deadlines.js';
import { RobotError } from '../core/errors.js';
import type { Unit } from '../core/units.js';
import type { DriveEnd, UnitEvent } from './robot-event.js';

/** The token of a caller, or the address without tokens, together with the id that the caller chose. */
export interface DriverName {
  readonly by: string;
  readonly id: string;
}

interface CurrentDriver extends DriverName {
  /** The time of the driver's first command (Clock milliseconds). */
  readonly sinceMs: number;
}

/** A driver keeps the unit for this long after the last command has ended. */
const KEPT_MS = 1000;

/** Knows who drives one unit. There is one driver at a time. */
export class Driver {
  readonly #clock: Clock;
  readonly #deadlines: Deadlines;
  readonly #emit: (event: UnitEvent) => void;
  readonly #unit: string;
  readonly #kept: Deadline;
  #current: CurrentDriver | undefined;

  constructor(options: {
    unit: Unit;
    clock: Clock;
    deadlines: Deadlines;
    emit: (event: UnitEvent) => void;
  }) {
    this.#unit = options.unit.name;
    this.#clock = options.clock;
    this.#deadlines = options.deadlines;
    this.#emit = options.emit;
    this.#kept = options.deadlines.make(() => this.end('silent'));
  }

  /** Undefined while nobody drives. */
  get current(): CurrentDriver | undefined {
    this.#deadlines.judge();
    return this.#current;
  }

  /** Throws `driven` if another caller drives the unit. */
  require(name: DriverName): void {
    const { current } = this;
    if (current !== undefined && !isSame(current, name))
      throw new RobotError('driven', { unit: this.#unit, by: current.by });
  }

  /** This caller drives from now on. The command holds until `holdsUntilMs`. */
  begin(name: DriverName, holdsUntilMs: number): void {
    if (this.current !== undefined && !isSame(this.current, name)) this.end('takeover');
    this.#kept.set(holdsUntilMs + KEPT_MS);
    if (this.#current !== undefined) return;
    const { by, id } = name;
    this.#current = { by, id, sinceMs: this.#clock.nowMs() };
    this.#emit({ what: 'drive', detail: { by, id } });
  }

  end(why: DriveEnd): void {
    if (this.#current === undefined) return;
    const { by, id } = this.#current;
    this.#current = undefined;
    this.#kept.set(NEVER);
    this.#emit({ what: 'drive-ended', detail: { by, id, why } });
  }
}

function isSame(one: DriverName, other: DriverName): boolean {
  return one.by === other.by && one.id === other.id;
}
