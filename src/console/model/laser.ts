import { effect, signal } from '@preact/signals';
import type { Status } from '../../schemas/status.js';
import { isUnanswered } from '../daemon/request.js';
import { Action } from './action.js';
import type { Observed } from './stop.js';

/** No data comes later than this: the stream is closed before. A request without an answer ends before, too. */
const LATEST_MS = 5000;

/** What was asked of the laser here, and whether it may be lit. */
export class Laser {
  readonly action: Action;
  readonly #observed: Observed;
  /** `on`: light was asked for here. `dark`: an Off or a STOP was answered. Undefined: the status is newer than either. */
  readonly #since = signal<'on' | 'dark' | undefined>(undefined);
  /** Page time at which light was asked for. */
  #askedMs = Number.NEGATIVE_INFINITY;
  /** The number of statuses that said that it is lit. */
  #litCount = 0;

  constructor(observed: Observed) {
    const { daemon, clock, status, fresh } = observed;
    this.#observed = observed;
    this.action = new Action(clock, 'Laser');
    effect(() => {
      const isDark = fresh.value && status.value?.laser.light === 'dark';
      if (isDark && daemon.offPress?.state === 'expired') daemon.forgetOff();
    });
  }

  /** It was lit when it was last heard of, or light was asked for since. */
  get mayBeLit(): boolean {
    return (this.#since.value ?? this.#observed.status.value?.laser.light) === 'on';
  }

  /** Its pin says so or does not obey, or the page does not hear the daemon and the laser may be lit. */
  get looksLit(): boolean {
    const { fresh, status } = this.#observed;
    const light = status.value?.laser.light;
    return light === 'fault' || (fresh.value ? light === 'on' : this.mayBeLit);
  }

  /** An Off has no answer yet. */
  get isOwed(): boolean {
    return this.#observed.daemon.offPress?.state === 'pending';
  }

  light(): Promise<unknown> {
    this.#since.value = 'on';
    this.#askedMs = this.#observed.clock.nowMs();
    return this.action.run(async () => {
      const outcome = await this.#observed.daemon.light();
      if ('refusal' in outcome && !isUnanswered(outcome.refusal)) this.#since.value = undefined;
      return outcome;
    });
  }

  darken(): void {
    void this.action.run(() => this.darkened(this.#observed.daemon.darken()));
  }

  /** After an Off or a STOP is done the laser is dark, unless a status since the press said that it is lit. */
  async darkened<T extends object>(asked: Promise<T>): Promise<T> {
    const lit = this.#litCount;
    const outcome = await asked;
    if ('body' in outcome) this.#since.value = lit === this.#litCount ? 'dark' : undefined;
    return outcome;
  }

  /** Telemetry or a status came. It may be older than light that was asked for since: they have different connections. */
  heard(status?: Status): void {
    if (status?.laser.light === 'on') this.#litCount += 1;
    const isOlder = this.#observed.clock.nowMs() - this.#askedMs < LATEST_MS;
    if (this.#since.peek() === 'dark' ? status !== undefined : !isOlder) this.#since.value = undefined;
  }
}
