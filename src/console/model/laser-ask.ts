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
    if (await this.act.run('off', () => this.#daemon.darken(() => undefined))) this.isDark();
  }

  /** The daemon has answered that it is dark. */
  isDark(): void {
    this.#since.value = 'dark';
  }

  /** Something has come. On its connection it may be older than the light that was asked for on another. */
  heard(isStatus: boolean): void {
    const isLate = this.act.pending.peek() !== undefined || performance.now() - this.#askedMs < OLDER_MS;
    if (this.#since.peek() === 'dark' ? isStatus : !isLate) this.#since.value = undefined;
  }
}
