import { effect, type ReadonlySignal, signal } from '@preact/signals';
import type { Status } from '../../schemas/status.js';
import type { Daemon } from '../daemon/daemon.js';
import { isUnheard } from '../daemon/request.js';
import { Act } from '../parts/act.js';
import { WANTED_MS } from './stop-ask.js';

/** A stream that is later than this is given up. */
const OLDER_MS = 5000;

/** What is asked of the laser here, and the light that may have come of it. */
export class LaserAsk {
  readonly act = new Act('Laser');
  /**
   * An Off that has no answer yet. `slow`: it is time to say so. `old`: nobody may want it any more, so that it is not sent
   * again; that is said until the laser is heard to be dark.
   */
  readonly unheard = signal<'sent' | 'slow' | 'old' | undefined>(undefined);
  /** When somebody pressed Off last, in milliseconds since 1970: the page's clock may stand still while a phone sleeps. */
  pressedMs = 0;
  readonly #daemon: Daemon;
  readonly #status: ReadonlySignal<Status | undefined>;
  /** Light that was asked for here, or darkness that was answered, of which nothing was heard since. */
  readonly #since = signal<'on' | 'dark' | undefined>(undefined);
  /** Takes back every Off that has no answer yet. */
  #off = new AbortController();
  /** When light was asked for, on the page's clock. */
  #askedMs = 0;
  /** How many statuses have said that it is lit. */
  #lit = 0;

  constructor(daemon: Daemon, status: ReadonlySignal<Status | undefined>, fresh: ReadonlySignal<boolean>) {
    this.#daemon = daemon;
    this.#status = status;
    effect(() => {
      const isDark = fresh.value && status.value?.laser.light === 'dark';
      if (isDark && this.unheard.value === 'old') this.unheard.value = undefined;
    });
  }

  /** Whether the light was on when it was heard last, or was asked for since. */
  get mayBeLit(): boolean {
    return (this.#since.value ?? this.#status.value?.laser.light) === 'on';
  }

  /** What was pressed last has the say: an Off that is late must not undo it. */
  light(): void {
    this.#since.value = 'on';
    this.#takeBack();
    this.#askedMs = performance.now();
    void this.act.run('on', async () => {
      const outcome = await this.#daemon.light();
      if ('refusal' in outcome && !isUnheard(outcome.refusal)) this.#since.value = undefined;
      return outcome;
    });
  }

  /** An Off is still to be sent. */
  get isOwed(): boolean {
    return this.unheard.value !== undefined && this.unheard.value !== 'old';
  }

  /** From here the age of the press counts. */
  darken(): void {
    this.pressedMs = Date.now();
    this.unheard.value = 'sent';
    // By then it is old.
    setTimeout(() => this.again(), WANTED_MS + 1000);
    void this.#send();
  }

  /** Sends an Off that reached nobody once more, whoever has lit the laser since: darkness that comes late does no harm. */
  again(): void {
    this.#age();
    if (this.isOwed && this.act.pending.peek() === undefined) void this.#send();
  }

  /** A press of the future is old too: somebody set the clock. */
  #age(): void {
    if (this.isOwed && Math.abs(Date.now() - this.pressedMs) > WANTED_MS) this.#takeBack('old');
  }

  #takeBack(left?: 'old'): void {
    this.unheard.value = left;
    this.#off.abort();
    this.#off = new AbortController();
  }

  async #send(): Promise<void> {
    const isDark = this.darkening();
    const isDone = await this.act.run('off', () =>
      this.#daemon.darken(() => {
        // The device may have slept between two of them.
        this.#age();
        if (this.isOwed) this.unheard.value = 'slow';
      }, this.#off.signal),
    );
    // The answer to an older press is neither done nor a refusal here. It says nothing of the newest.
    const refusal = this.act.refusal.peek();
    if (isDone || (refusal && !isUnheard(refusal))) this.unheard.value = undefined;
    if (isDone) isDark();
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
