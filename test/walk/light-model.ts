import { isOff, isOn, isTuneStart } from './acts.js';
import { type Asked, type InFlight, isPost, isTaken } from './asked.js';
import { promise } from './broken-promise.js';
import { Candidates } from './candidates.js';
import type { WalkSettings } from './history.js';

/** After the pin works again, or after the interlock opens, the laser is dark within this many polls. */
const POLLS = 3;

/**
 * Knows when the laser may be lit: only after a caller asked for light, and never while the robot is stopped or the
 * daemon is down.
 */
export class LightModel {
  readonly #maxOnMs: number;
  readonly #graceMs: number;
  lit = new Candidates<boolean>(false);
  readonly #inFlight: InFlight;
  #pinTroubleMs = Number.NEGATIVE_INFINITY;
  #pinFails = false;
  /** The event number at which the interlock opened; undefined while it is closed. */
  #openSince: number | undefined;
  #onMs = 0;

  constructor({ pollHz, laserMaxOnS }: WalkSettings, inFlight: InFlight) {
    this.#inFlight = inFlight;
    this.#maxOnMs = laserMaxOnS === 0 ? Number.POSITIVE_INFINITY : laserMaxOnS * 1000;
    this.#graceMs = (POLLS * 1000) / pollHz;
  }

  pin(fails: boolean, nowMs: number): void {
    this.#pinFails = fails;
    this.#pinTroubleMs = nowMs;
  }

  /** A lock or a phase forbids light from event `from` on. */
  forbidden(from: number, at: number): void {
    this.lit.sure(false, from, at);
  }

  interlock(isClosed: boolean, at: number): void {
    if (isClosed) this.#openSince = undefined;
    else this.#openSince ??= at;
    if (!isClosed) this.lit.sure(false, at, at);
  }

  answered(asked: Asked, lit: boolean, nowMs: number): void {
    if (asked.answer === undefined) return;
    const { status, at } = asked.answer;
    if (isOn(asked) && status === 200) {
      const wasOpen = this.#openSince !== undefined && this.#openSince < asked.sent;
      promise(!wasOpen, 'no light with an open contact', () => 'switched on while the interlock is open');
      this.lit.sure(true, asked.sent, at);
      this.#onMs = nowMs;
    }
    // If the pin did not follow an On, the daemon writes the pin dark as soon as the pin works again.
    if (isOn(asked) && status === 503) this.lit.maybe(false, asked.sent, at);
    // A tuning may darken the laser before it is refused.
    if (isTuneStart(asked) && status !== 202) this.lit.maybe(false, asked.sent, at);
    else if (darkens(asked)) {
      this.lit.sure(false, asked.sent, at);
      const dark = !lit || this.lit.can(true) || !isTaken(asked.answer);
      promise(dark, 'dark when answered', () => `${asked.path} answered ${status} and the laser is lit`);
    }
  }

  abandoned(asked: Asked, at: number): void {
    if (isOn(asked)) this.lit.maybe(true, asked.sent, at);
    if (darkens(asked)) this.lit.maybe(false, asked.sent, Number.POSITIVE_INFINITY);
  }

  /** The daemon is ending and may no longer enforce `maxOnS`. */
  ends(): void {
    this.#onMs = Number.POSITIVE_INFINITY;
  }

  ended(at: number): void {
    this.lit.sure(false, at, at);
  }

  /** `isLate`: the daemon's timers may not have run yet. */
  watch(lit: boolean, nowMs: number, isLate: boolean): void {
    if (!lit || [...this.#inFlight].some(isOn)) return;
    if (this.#pinFails || nowMs - this.#pinTroubleMs <= this.#graceMs) return;
    promise(this.lit.can(true), 'light', () => 'the laser is lit and nobody asks for it');
    if (isLate) return;
    promise(nowMs <= this.#onMs + this.#maxOnMs + 1, 'light limit', () => 'the laser is lit past its limit');
  }

  /** `mayHaveStopped`: the robot may have stopped without a caller since it last settled. */
  judgeSettled(lit: boolean, stopped: boolean, mayHaveStopped: boolean, nowMs: number): void {
    promise(!(lit && stopped), 'light', () => 'the laser is lit while stopped');
    const limited = nowMs > this.#onMs + this.#maxOnMs;
    promise(
      lit || limited || stopped || mayHaveStopped || !this.lit.must(true),
      'light holds',
      () => 'the laser is dark; it was switched on, and nobody switched it off',
    );
  }

  adopt(lit: boolean): void {
    this.lit = new Candidates(lit);
  }
}

function darkens(asked: Asked): boolean {
  return isOff(asked) || isPost(asked, '/api/stop') || isTuneStart(asked);
}
