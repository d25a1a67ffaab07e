import { signal } from '@preact/signals';
import { isObject } from '../../core/json.js';
import { MAX_HOLD_MS, perUnit, type Rates, UNIT_LIST, type Unit, type UnitName } from '../../core/units.js';
import type { Ask } from '../daemon/asks.js';
import { isUnanswered, type Outcome } from '../daemon/request.js';
import type { Whole } from './whole.js';

export type UnitRates = { readonly name: UnitName; readonly rates: Rates };

export const COMMANDS_HZ = 25;
const HOLD_MS = 200;
/** A command that arrives later than this may be older than the finger. */
const LATEST_MS = MAX_HOLD_MS;

/** The drive commands of this page, and what is known of them. */
export class DriveCommands {
  /** The driver's id; another page has another one. */
  readonly id = `page ${Math.random().toString(36).slice(2, 8)}`;
  readonly roundTripMs = signal<number | undefined>(undefined);
  /** Units to which a command was sent that may still hold. */
  readonly moving: Record<UnitName, boolean> = perUnit(() => false);
  /** When the first command of each unit's motion was answered. */
  readonly acceptedMs: Record<UnitName, number> = perUnit(() => Number.POSITIVE_INFINITY);
  readonly #whole: Whole;
  /** The unanswered commands that move something. */
  #pendingMoves = 0;
  /** When the newest command that moves something was sent. */
  #sentMs = Number.NEGATIVE_INFINITY;
  #unansweredMs = Number.POSITIVE_INFINITY;

  constructor(whole: Whole) {
    this.#whole = whole;
  }

  get isMoving(): boolean {
    return UNIT_LIST.some(({ name }) => this.moving[name]);
  }

  /** When the oldest moving command was sent, if nothing was answered since. */
  get unansweredMs(): number {
    return this.#unansweredMs;
  }

  /** Whether the next command that moves something may go. At most one is unanswered, until its hold is over. */
  get isDue(): boolean {
    const sinceMs = this.#whole.clock.nowMs() - this.#sentMs;
    return sinceMs >= (this.#pendingMoves === 0 ? 1000 / COMMANDS_HZ - 1 : HOLD_MS);
  }

  /**
   * Stops one unit. It goes alone, because the daemon may refuse to reach another unit. It takes the place of what was sent to
   * this unit and not answered. Nothing but a newer one of the same unit, or a STOP, takes it back.
   */
  halt({ name, axes }: Unit, more: { readonly takeover?: true } = {}): Promise<Outcome<unknown>> {
    this.moving[name] = false;
    if (!this.isMoving) this.#unansweredMs = Number.POSITIVE_INFINITY;
    const rates = Object.fromEntries(axes.map(axis => [axis.name, 0]));
    const replaces = ({ body }: Ask) => isObject(body) && name in body;
    return this.#send([{ name, rates }], { rule: 'calms', replaces }, more);
  }

  /** Moves units together. It takes the place of an unanswered command that moves, and leaves halts alone. */
  async move(wanted: readonly UnitRates[]): Promise<Outcome<unknown>> {
    const { clock } = this.#whole;
    this.#sentMs = clock.nowMs();
    this.#unansweredMs = Math.min(this.#unansweredMs, this.#sentMs);
    for (const { name } of wanted) {
      if (!this.moving[name]) this.acceptedMs[name] = Number.POSITIVE_INFINITY;
      this.moving[name] = true;
    }
    this.#pendingMoves += 1;
    const outcome = await this.#send(wanted, { rule: 'moves', replaces: ({ rule }) => rule === 'moves' });
    this.#pendingMoves -= 1;
    if ('body' in outcome)
      for (const { name } of wanted) this.acceptedMs[name] = Math.min(this.acceptedMs[name], clock.nowMs());
    return outcome;
  }

  async #send(
    wanted: readonly UnitRates[],
    how: Pick<Ask, 'rule' | 'replaces'>,
    more: object = {},
  ): Promise<Outcome<unknown>> {
    const { clock, daemon, robotTime } = this.#whole;
    const sentMs = clock.nowMs();
    const body = {
      ...Object.fromEntries(wanted.map(({ name, rates }) => [name, rates])),
      id: this.id,
      holdMs: HOLD_MS,
      notAfterT: robotTime.tAt(sentMs + LATEST_MS),
      ...more,
    };
    const outcome = await daemon.press({ path: '/api/drive', body, ...how });
    if (!isUnanswered(outcome)) this.#unansweredMs = Number.POSITIVE_INFINITY;
    if ('body' in outcome) this.roundTripMs.value = Math.round(clock.nowMs() - sentMs);
    return outcome;
  }
}
