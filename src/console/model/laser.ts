import { effect, type ReadonlySignal, signal } from '@preact/signals';
import type { Clock } from '../../core/clock.js';
import type { Status } from '../../schemas/status.js';
import type { DaemonClient } from '../daemon/daemon.js';
import { isUnanswered } from '../daemon/request.js';
import { Action } from './action.js';

/** No data comes later than this: the stream is closed before. A request without an answer ends before, too. */
const LATEST_MS = 5000;

/** What was asked of the laser here, and whether it may be lit. */
export class Laser {
  readonly action: Action;
  readonly #daemon: DaemonClient;
  readonly #clock: Clock;
  readonly #status: ReadonlySignal<Status | undefined>;
  /** `on`: light was asked for here. `dark`: an Off or a STOP was answered. Undefined: the status is newer than either. */
  readonly #since = signal<'on' | 'dark' | undefined>(undefined);
  /** Page time at which light was asked for. */
  #askedMs = Number.NEGATIVE_INFINITY;
  /** The number of statuses that said that it is lit. */
  #litCount = 0;

  constructor(
    daemon: DaemonClient,
    clock: Clock,
    status: ReadonlySignal<Status | undefined>,
    fresh: ReadonlySignal<boolean>,
  ) {
    this.#daemon = daemon;
    this.#clock = clock;
    this.#status = status;
    this.action = new Action(clock, 'Laser');
    effect(() => {
      const isDark = fresh.value && status.value?.laser.light === 'dark';
      if (isDark && daemon.offPress?.state === 'expired') daemon.forgetOff();
    });
  }

  /** It was lit when it was last heard of, or light was asked for since. */
  get mayBeLit(): boolean {
    return (this.#since.value ?? this.#status.value?.laser.light) === 'on';
  }

  /** An Off has no answer yet. */
  get isOwed(): boolean {
    return this.#daemon.offPress?.state === 'pending';
  }

  light(): void {
    this.#since.value = 'on';
    this.#askedMs = this.#clock.nowMs();
    void this.action.run('on', async () => {
      const outcome = await this.#daemon.light();
      if ('refusal' in outcome && !isUnanswered(outcome.refusal)) this.#since.value = undefined;
      return outcome;
    });
  }

  darken(): void {
    void this.action.run('off', () => this.darkened(this.#daemon.darken()));
  }

  /** Takes note when an Off or a STOP is done, after which the laser is dark unless a status said otherwise meanwhile. */
  async darkened<T extends object>(asked: Promise<T>): Promise<T> {
    const lit = this.#litCount;
    const outcome = await asked;
    if ('body' in outcome) this.#since.value = lit === this.#litCount ? 'dark' : undefined;
    return outcome;
  }

  /** Telemetry or a status came. It may be older than light that was asked for since: they have different connections. */
  heard(status?: Status): void {
    if (status?.laser.light === 'on') this.#litCount += 1;
    const isOlder = this.#clock.nowMs() - this.#askedMs < LATEST_MS;
    if (this.#since.peek() === 'dark' ? status !== undefined : !isOlder) this.#since.value = undefined;
  }
}
