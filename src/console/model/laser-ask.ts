import { type ReadonlySignal, signal } from '@preact/signals';
import type { Status } from '../../core/status.js';
import type { Daemon } from '../daemon/daemon.js';
import { isUnheard } from '../daemon/request.js';
import { Act } from '../parts/act.js';

/** What is asked of the laser here, and the light that may have come of it. */
export class LaserAsk {
  readonly act = new Act('Laser');
  readonly #daemon: Daemon;
  readonly #status: ReadonlySignal<Status | undefined>;
  /** Light was asked for here, and nothing was heard since that says what came of it. */
  readonly #isLightAsked = signal(false);

  constructor(daemon: Daemon, status: ReadonlySignal<Status | undefined>) {
    this.#daemon = daemon;
    this.#status = status;
  }

  /** Whether the light was on when it was heard last, or was asked for since. */
  get mayBeLit(): boolean {
    return this.#isLightAsked.value || this.#status.value?.laser.light === 'on';
  }

  light(): void {
    this.#isLightAsked.value = true;
    void this.act.run('on', async () => {
      const outcome = await this.#daemon.light();
      if ('refusal' in outcome && !isUnheard(outcome.refusal)) this.#isLightAsked.value = false;
      return outcome;
    });
  }

  async darken(): Promise<void> {
    const isDone = await this.act.run('off', () => this.#daemon.darken(() => undefined));
    if (isDone) this.#isLightAsked.value = false;
  }

  /** A status has come. Before the answer it may be one that was sent before the request arrived. */
  heard(): void {
    if (this.act.pending.peek() !== 'on') this.#isLightAsked.value = false;
  }
}
