import type { GainSet, UnitName } from '../../src/core/units.js';
import { type Asked, bodyMember, isPost } from './asked.js';
import { gainsKey } from './truth.js';

/** How long it takes from the end of a lease until the controller runs what is saved again. */
const GRACE_MS = 400;

interface Trial {
  readonly gains: string;
  /** Its place in the order of all that happened, when it was answered. */
  readonly at: number;
  readonly untilMs: number;
}

/** A controller that was away for so long counts as offline. */
const OFFLINE_MS = 1000;

/** Which gains one unit may run without their being saved. */
export class TrialModel {
  readonly #unit: UnitName;
  #trials: Trial[] = [];
  /** The controller may have a guard: a daemon that finds one ends its wave. */
  mayGuard = false;
  /** When the last frame could reach the controller, with its place in the order of all that happened; undefined while they do. */
  #away: { readonly sinceMs: number; readonly at: number } | undefined;

  constructor(unit: UnitName) {
    this.#unit = unit;
  }

  answered(asked: Asked): void {
    if (asked.answer === undefined) return;
    if (isPost(asked, this.#path('/trial'))) {
      this.mayGuard = true;
      if (asked.answer.status === 200) this.mayRun(asked);
    } else if (asked.answer.status === 200 && this.#ends(asked)) this.over(asked.sent);
  }

  /** The lease counts from the request's arrival. */
  mayRun(asked: Asked): void {
    if (!isPost(asked, this.#path('/trial'))) return;
    const gains = bodyMember(asked, 'gains');
    if (!isGainSet(gains)) return;
    const untilMs = asked.sentMs + 1000 * Number(bodyMember(asked, 'leaseS')) + GRACE_MS;
    this.#trials.push({ gains: gainsKey(gains), at: asked.answer?.at ?? Number.POSITIVE_INFINITY, untilMs });
  }

  /** No frame reaches the controller any more. */
  left(nowMs: number, at: number): void {
    this.#away ??= { sinceMs: nowMs, at };
  }

  /** It may be reached again. */
  came(nowMs: number): void {
    if (this.#away !== undefined && nowMs - this.#away.sinceMs > OFFLINE_MS) this.over(this.#away.at);
    this.#away = undefined;
  }

  /** Whatever was answered before ends. */
  over(at: number): void {
    this.#trials = this.#trials.filter(trial => trial.at > at);
  }

  canRun(gains: string, nowMs: number): boolean {
    return this.#trials.some(trial => trial.gains === gains && nowMs <= trial.untilMs);
  }

  #ends(asked: Asked): boolean {
    const { method, path } = asked.request;
    if (method === 'DELETE') return path === this.#path('/trial');
    return (
      isPost(asked, '/api/stop') ||
      isPost(asked, '/api/match/lock') ||
      isPost(asked, this.#path('')) ||
      isPost(asked, this.#path('/restore'))
    );
  }

  #path(rest: string): string {
    return `/api/${this.#unit}/pidconfig${rest}`;
  }
}

function isGainSet(value: unknown): value is GainSet {
  return typeof value === 'object' && value !== null;
}
