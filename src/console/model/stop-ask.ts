import { effect, type ReadonlySignal, signal } from '@preact/signals';
import type { Status } from '../../schemas/status.js';
import type { Daemon } from '../daemon/daemon.js';
import { Act } from '../parts/act.js';

/** For so long after the press an Off that reached nobody, or a stop that was refused, is sent again without another press. */
export const WANTED_MS = 60_000;

export interface StopAskOptions {
  readonly daemon: Daemon;
  readonly status: ReadonlySignal<Status | undefined>;
  /** What `status` says is known to hold now. */
  readonly fresh: ReadonlySignal<boolean>;
  /** Of whoever is here; undefined as long as they are not known. */
  readonly rights: () => string | undefined;
  /** A stop is asked for. The act that it gives is called when the laser is dark by it. */
  readonly darkening: () => () => void;
}

/** The STOP that was pressed here, until the robot is seen stopped. */
export class StopAsk {
  readonly act = new Act('Stop', true);
  /** A stop that got no answer yet is asked again. */
  readonly asksAgain = signal(false);
  /** The last press was answered: the robot has stopped. Until the next status, which says what became of that. */
  readonly isConfirmed = signal(false);
  /** The press is so long ago that nobody may want it any more. */
  readonly isOld = signal(false);
  /** When somebody pressed STOP last, in milliseconds since 1970. */
  pressedMs = 0;
  readonly #options: StopAskOptions;
  /** The rights of whoever asked for a stop last. */
  #askedWith: string | undefined;
  /** How often it was sent. What became of the newest has the say. */
  #sent = 0;
  /** When a stop was answered or given up last, on the page's clock. */
  #endedMs = 0;

  constructor(options: StopAskOptions) {
    this.#options = options;
    effect(() => {
      if (this.stopped || (this.stopped === false && this.#wasResumed)) this.act.clear();
    });
  }

  /** Whether the robot is stopped; undefined while that is not known. */
  get stopped(): boolean | undefined {
    const { status, fresh } = this.#options;
    return fresh.value ? status.value?.stopped : undefined;
  }

  /** Refused for want of a right, and nothing was done. */
  get isForbidden(): boolean {
    return this.act.refusal.value?.isIdentity === true;
  }

  /** Under way, or given up without an answer. It is asked again, so that nothing may move before it that it would refuse. */
  get isUnheard(): boolean {
    return this.act.pending.value !== undefined || this.act.refusal.value?.code === 'unreachable';
  }

  /** Under way, or refused, and not by want of a right so long ago that nobody may want it any more. */
  get isOwed(): boolean {
    if (this.isForbidden && this.isOld.value) return false;
    return (this.act.pending.value ?? this.act.refusal.value) !== undefined;
  }

  /** This daemon had stopped the robot, and not all of it confirmed that. So somebody has resumed it where it is not stopped. */
  get #wasResumed(): boolean {
    const code = this.act.refusal.peek()?.code;
    const ranMs = 1000 * (this.#options.status.value?.uptimeS ?? 0);
    const sinceMs = performance.now() - this.#endedMs;
    return (code === 'not-confirmed' || code === 'pin-failed') && ranMs > sinceMs;
  }

  /** From here the age of the press counts. */
  press(): void {
    this.pressedMs = Date.now();
    this.#age();
    setTimeout(() => this.#age(), WANTED_MS + 1000);
    void this.#send();
  }

  /**
   * Sends it once more where that may help. A stop that reached nobody is asked again once the daemon answers anything,
   * however old it is. It may have arrived, and only its answers were lost; but then it costs one Resume too many, where a
   * stop that was forgotten may cost a hand. One that was refused for want of a right is asked again for whoever has other
   * rights, unless it is old: the robot may be stopped and resumed since.
   */
  again(): void {
    this.#age();
    const isForOthers = this.isForbidden && !this.isOld.peek() && this.#options.rights() !== this.#askedWith;
    if (isForOthers || this.act.refusal.peek()?.code === 'unreachable') void this.#send();
  }

  forget(): void {
    this.act.clear();
    this.isConfirmed.value = false;
  }

  /** A press of the future is old too: somebody set the clock. */
  #age(): void {
    this.isOld.value = Math.abs(Date.now() - this.pressedMs) > WANTED_MS;
  }

  async #send(): Promise<void> {
    this.#sent += 1;
    const turn = this.#sent;
    this.#askedWith = this.#options.rights();
    this.isConfirmed.value = false;
    const isDark = this.#options.darkening();
    if (this.act.refusal.peek() !== undefined) this.asksAgain.value = true;
    const isDone = await this.act.run('stop', () =>
      this.#options.daemon.stop(() => {
        if (turn === this.#sent) this.asksAgain.value = true;
      }),
    );
    if (turn !== this.#sent) return;
    this.#endedMs = performance.now();
    this.asksAgain.value = false;
    this.isConfirmed.value = isDone;
    if (isDone) isDark();
    if (this.stopped) this.act.clear();
  }
}
