import { effect, signal } from '@preact/signals';
import type { Status } from '../../schemas/status.js';
import { LASER } from '../daemon/asks.js';
import { isUnanswered } from '../daemon/request.js';
import { Action } from './action.js';
import { Part, type Whole } from './whole.js';

/**
 * The page closes a silent stream and cancels an unanswered request earlier than this. So data and answers
 * are never older when they arrive.
 */
const LATEST_MS = 5000;

/** The page's requests about the laser, and whether it may be lit. */
export class Laser extends Part {
  readonly action = new Action(this.whole.clock, 'Laser');
  /**
   * `on`: a person asked for light here. `dark`: an Off or a STOP was answered. Undefined: a newer status has
   * replaced both.
   */
  readonly #since = signal<'on' | 'dark' | undefined>(undefined);
  /** Page time at which On was last pressed here. */
  #askedMs = Number.NEGATIVE_INFINITY;
  /** The number of statuses that said that the laser is lit. */
  #litCount = 0;

  constructor(whole: Whole) {
    super(whole);
    const { daemon, status, fresh } = whole;
    effect(() => {
      const isDark = fresh.value && status.value?.laser.light === 'dark';
      if (isDark && daemon.asks.insisting(LASER)?.fate.state.value === 'expired') daemon.asks.forget(LASER);
    });
  }

  /** True if the laser was lit at the last contact, or if light was requested since. */
  get mayBeLit(): boolean {
    return (this.#since.value ?? this.whole.status.value?.laser.light) === 'on';
  }

  /** True if the pin shows light or does not obey. Also true without contact, if the laser may be lit. */
  get looksLit(): boolean {
    const { fresh, status } = this.whole;
    const light = status.value?.laser.light;
    return light === 'fault' || (fresh.value ? light === 'on' : this.mayBeLit);
  }

  /** True while an Off is unanswered. */
  get isOwed(): boolean {
    return this.whole.daemon.asks.insisting(LASER)?.fate.state.value === 'pending';
  }

  light(): Promise<unknown> {
    this.#since.value = 'on';
    this.#askedMs = this.whole.clock.nowMs();
    return this.action.run(async () => {
      const outcome = await this.whole.daemon.light();
      if ('refusal' in outcome && !isUnanswered(outcome)) this.#since.value = undefined;
      return outcome;
    });
  }

  darken(): void {
    void this.action.run(fate => this.darkened(this.whole.daemon.darken(fate)));
  }

  /** After an Off or a STOP has succeeded the laser is dark, unless a status since the press said that it is lit. */
  async darkened<T extends object>(asked: Promise<T>): Promise<T> {
    const lit = this.#litCount;
    const outcome = await asked;
    if ('body' in outcome) this.#since.value = lit === this.#litCount ? 'dark' : undefined;
    return outcome;
  }

  /**
   * Call this for telemetry and for a status. It may be older than the last On, because the event stream and the
   * requests use different connections.
   */
  heard(status?: Status): void {
    if (status?.laser.light === 'on') this.#litCount += 1;
    const isOlder = this.whole.clock.nowMs() - this.#askedMs < LATEST_MS;
    if (this.#since.peek() === 'dark' ? status !== undefined : !isOlder) this.#since.value = undefined;
  }
}
