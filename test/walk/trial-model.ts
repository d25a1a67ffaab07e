import type { UnitName } from '../../src/core/units.js';
import { isSave, isStop } from './acts.js';
import { type Asked, bodyMember, isDelete, isPost, leaseUntilMs } from './asked.js';
import { gainsKey, isGainSet } from './truth.js';

/** The controller runs the saved gains at most this long after the end of a lease. */
const GRACE_MS = 400;

interface Trial {
  readonly gains: string;
  /** The event number of the answer. */
  readonly at: number;
  readonly untilMs: number;
}

/** A controller that is unreachable for this long counts as offline. */
const OFFLINE_MS = 1000;

/** Knows the unsaved gains that one unit may run. */
export class TrialModel {
  readonly #unit: UnitName;
  #trials: Trial[] = [];
  /** True if the controller may have a guard. A daemon that finds a guard at its start ends the excitation. */
  mayGuard = false;
  /** The time and the event number since which no frame reaches the controller; undefined while frames reach it. */
  #away: { readonly sinceMs: number; readonly at: number } | undefined;

  constructor(unit: UnitName) {
    this.#unit = unit;
  }

  answered(asked: Asked): void {
    if (asked.answer === undefined) return;
    if (isPost(asked, this.#path)) {
      this.mayGuard = true;
      if (asked.answer.status === 200) this.mayRun(asked);
    } else if (asked.answer.status === 200 && this.#ends(asked)) this.over(asked.sent);
  }

  mayRun(asked: Asked): void {
    if (!isPost(asked, this.#path)) return;
    const gains = bodyMember(asked, 'gains');
    if (!isGainSet(gains)) return;
    const untilMs = leaseUntilMs(asked) + GRACE_MS;
    this.#trials.push({ gains: gainsKey(gains), at: asked.answer?.at ?? Number.POSITIVE_INFINITY, untilMs });
  }

  /** Frames no longer reach the controller. */
  left(nowMs: number, at: number): void {
    this.#away ??= { sinceMs: nowMs, at };
  }

  /** Frames reach the controller again. */
  came(nowMs: number): void {
    if (this.#away !== undefined && nowMs - this.#away.sinceMs > OFFLINE_MS) this.over(this.#away.at);
    this.#away = undefined;
  }

  /** Ends the trials that were answered before event `at`. */
  over(at: number): void {
    this.#trials = this.#trials.filter(trial => trial.at > at);
  }

  canRun(gains: string, nowMs: number): boolean {
    return this.#trials.some(trial => trial.gains === gains && nowMs <= trial.untilMs);
  }

  #ends(asked: Asked): boolean {
    return isStop(asked) || isDelete(asked, this.#path) || isSave(asked, this.#unit);
  }

  get #path(): string {
    return `/api/${this.#unit}/pidconfig/trial`;
  }
}
