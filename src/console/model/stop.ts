import { effect, type ReadonlySignal, untracked } from '@preact/signals';
import type { Clock } from '../../core/clock.js';
import type { Status } from '../../schemas/status.js';
import type { Press } from '../daemon/asks.js';
import type { DaemonClient } from '../daemon/daemon.js';

/** The STOP that was pressed here, until the robot is known to be stopped, and whether it is. */
export class Stop {
  readonly #daemon: DaemonClient;
  readonly #status: ReadonlySignal<Status | undefined>;
  readonly #fresh: ReadonlySignal<boolean>;
  readonly #clock: Clock;

  constructor(
    daemon: DaemonClient,
    clock: Clock,
    status: ReadonlySignal<Status | undefined>,
    fresh: ReadonlySignal<boolean>,
  ) {
    this.#daemon = daemon;
    this.#clock = clock;
    this.#status = status;
    this.#fresh = fresh;
    effect(() => {
      const { stopped } = this;
      // Only what is heard after the answer says what became of it.
      const press = untracked(() => this.press);
      if (press === undefined || press.state === 'pending') return;
      if (stopped || (stopped === false && this.#wasResumed(press))) daemon.forgetStop();
    });
  }

  get press(): Press | undefined {
    return this.#daemon.stopPress;
  }

  /** Undefined while it is unknown. */
  get stopped(): boolean | undefined {
    return this.#fresh.value ? this.#status.value?.stopped : undefined;
  }

  get isUnanswered(): boolean {
    return this.press?.state === 'pending';
  }

  /** The page must not forget it. */
  get isOwed(): boolean {
    return this.isUnanswered || this.press?.state === 'refused';
  }

  /** A status came: it says what became of a STOP that was answered. */
  heardStatus(): void {
    if (this.press?.state === 'done') this.#daemon.forgetStop();
  }

  /** The daemon that is heard now has obeyed this STOP, so somebody has resumed a robot that is not stopped. */
  #wasResumed({ refusal, sentMs }: Press): boolean {
    const isObeyed = refusal?.code === 'not-confirmed' || refusal?.code === 'pin-failed';
    const ranMs = 1000 * (this.#status.value?.uptimeS ?? 0);
    return isObeyed && ranMs > this.#clock.nowMs() - sentMs;
  }
}
