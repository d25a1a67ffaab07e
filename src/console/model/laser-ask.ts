import { type ReadonlySignal, signal } from '@preact/signals';
import type { Status } from '../../core/status.js';
import type { Daemon } from '../daemon/daemon.js';
import { isUnheard } from '../daemon/request.js';
import { Act } from '../parts/act.js';

/** A stream that is later than this is given up. */
const OLDER_MS = 5000;

/** What is asked of the laser here, and the light that may have come of it. */
export class LaserAsk {
  readonly act = new Act('Laser');
  readonly #daemon: Daemon;
  readonly #status: ReadonlySignal<Status | undefined>;
  /** Light that was asked for here, or darkness that was answered, of which nothing was heard since. */
  readonly #since = signal<'on' | 'dark' | undefined>(undefined);
  /** When light was asked for, on the page's clock. */
  #askedMs = 0;
  /** How many statuses have said that it is lit. */
  #lit = 0;

  constructor(daemon: Daemon, status: ReadonlySignal<Status | undefined>) {
    this.#daemon = daemon;
    this.#status = status;
  }

  /** Whether the light was on when it was heard last, or was asked for since. */
  get mayBeLit(): boolean {
    return (this.#since.value ?? this.#status.value?.laser.light) === 'on';
  }

  light(): void {
    this.#since.value = 'on';
    this.#askedMs = performance.now();
    void this.act.run('on', async () => {
      const outcome = await this.#daemon.light();
      if ('refusal' in outcome && !isUnheard(outcome.refusal)) this.#since.value = undefined;
      return outcome;
    });
  }

  async darken(): Promise<void> {
    const isDark = this.darkening();
    if (await this.act.run('off', () => this.#daemon.darken(() => undefined))) isDark();
  }

  /** An Off or a stop is asked for. The act that it gives says that the daemon has answered it: somebody may have lit it since. */
  darkening(): () => void {
    const lit = this.#lit;
    return () => {
      this.#since.value = lit === this.#lit ? 'dark' : undefined;
    };
  }

  /**
   * Telemetry has come, or a status. On their connection they may be older than the light that was asked for on another.
   */
  heard(status?: Status): void {
    if (status?.laser.light === 'on') this.#lit += 1;
    const isLate = this.act.pending.peek() !== undefined || performance.now() - this.#askedMs < OLDER_MS;
    if (this.#since.peek() === 'dark' ? status !== undefined : !isLate) this.#since.value = undefined;
  }
}
