import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../config/settings.js';
import type { Clock } from '../core/clock.js';
import { type Deadline, type Deadlines, NEVER } from '../core/deadlines.js';
import { RobotError } from '../core/errors.js';
import { Listeners } from '../core/listeners.js';
import { type Permissions, type Phase, PLAY } from '../core/phases.js';
import type { Act, Permission } from '../robot/request-gate.js';
import type { NewEvent } from '../schemas/log.js';
import type { MatchStatus } from '../schemas/match.js';

export type MatchSettings = Config['match'];
export type Lock = NonNullable<MatchStatus['lock']>;

/** The settings that a desk sends. */
export interface MatchCall {
  readonly id: string;
  readonly revision: number;
  readonly phase: Phase;
  /** Null if the phase has no time limit. */
  readonly remainingS: number | null;
}

/** The part of the match that outlives the daemon. */
export interface MatchState {
  readonly lock: Lock | null;
  /** Null before the first match. */
  readonly call: MatchCall | null;
  /**
   * The current phase. It differs from the phase of the last call if that phase's time ran out, if root ended or cleared the
   * match, or if the system rebooted.
   */
  readonly phase: Phase;
  /** The end of the phase in milliseconds of the clock. Null if the phase has no time limit. */
  readonly endsAtMs: number | null;
}

export const NO_MATCH: MatchState = { lock: null, call: null, phase: 'none', endsAtMs: null };

/** Every referee may set these phases, also without the lease, because they only make the robot safer. */
const FOR_EVERY_REFEREE: readonly Phase[] = ['pause', 'ended'];
const OVER: readonly Phase[] = ['none', 'ended'];
/** A new match may begin with these phases during another match, because by default nothing moves in them. */
const BEGINNINGS: readonly Phase[] = ['pre', 'ended'];

/**
 * The name that a desk gives itself, and the name of its token. Without tokens, the address of the desk
 * instead.
 */
type LeaseOwner = NonNullable<MatchStatus['lease']>;

/** Decides which referee's desk controls the match. Only one desk does at a time. */
class Lease {
  readonly #clock: Clock;
  #owner: LeaseOwner | null = null;
  #ttlMs = 0;
  #beatMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The desk whose beat was accepted last; null before the first. */
  get owner(): LeaseOwner | null {
    return this.#owner;
  }

  /** Whether nobody has the lease: it ran out, its token is gone, or no desk ever had it. */
  get isExpired(): boolean {
    return this.silentMs >= this.#ttlMs;
  }

  /** Milliseconds since the last accepted beat. */
  get silentMs(): number {
    return this.#clock.nowMs() - this.#beatMs;
  }

  /**
   * Gives the lease to this desk for `ttlMs` from `sinceMs` on. Throws `lease-held` if another desk has it, unless `takeover` is true.
   */
  beat({ holder, by }: LeaseOwner, ttlMs: number, takeover: boolean, sinceMs: number): void {
    const isOwn = (owner: LeaseOwner) => owner.by === by && owner.holder === holder;
    if (!takeover) this.#requireFree(isOwn);
    this.#beatMs = this.#owner !== null && isOwn(this.#owner) ? Math.max(this.#beatMs, sinceMs) : sinceMs;
    this.#owner = { holder, by };
    this.#ttlMs = ttlMs;
  }

  /** Throws `lease-held` while another token has a live lease. */
  requireNoOther(by: string): void {
    this.#requireFree(owner => owner.by === by);
  }

  /** Throws `lease-held` if the last accepted beat came from a desk of another name, however long ago. */
  requireLast(holder: string): void {
    if (this.#owner !== null && this.#owner.holder !== holder)
      throw new RobotError('lease-held', this.#owner);
  }

  /** Frees the lease, unless one of these callers has it. */
  keepOnlyOf(names: readonly string[]): void {
    if (this.#owner !== null && !names.includes(this.#owner.by)) this.#ttlMs = 0;
  }

  #requireFree(isOwn: (owner: LeaseOwner) => boolean): void {
    const owner = this.#owner;
    if (owner === null || isOwn(owner) || this.isExpired) return;
    throw new RobotError('lease-held', owner);
  }
}

/**
 * Lock, phase and lease of a match, and what they allow. A match may ask for a stop, and never starts anything. A
 * passed deadline takes effect before every question and every change.
 */
export class Match implements Permission {
  readonly lease: Lease;
  /** Emitted when something that status shows or the disk stores has changed. */
  readonly changed = new Listeners<void>();
  readonly happened = new Listeners<NewEvent>();
  /** Emitted with the reason when the robot has to stop: time is up, or the referee is silent. */
  readonly mustStop = new Listeners<string>();
  readonly #clock: Clock;
  readonly #deadlines: Deadlines;
  readonly #settings: MatchSettings;
  #state: MatchState;
  #lockedMs = Number.NEGATIVE_INFINITY;
  #setMs = Number.NEGATIVE_INFINITY;
  readonly #end: Deadline;
  /** Not set while the desk is silent. */
  readonly #silence: Deadline;

  constructor(options: { clock: Clock; deadlines: Deadlines; settings: MatchSettings; state: MatchState }) {
    this.#clock = options.clock;
    this.#deadlines = options.deadlines;
    this.#settings = options.settings;
    this.#state = options.state;
    this.lease = new Lease(options.clock);
    this.#silence = options.deadlines.make(() => this.#becameSilent());
    this.#end = options.deadlines.make(() => {
      this.#change({ phase: 'ended', endsAtMs: null }, 'time is up');
      this.mustStop.emit('time is up');
    });
    this.#end.set(options.state.endsAtMs ?? NEVER);
  }

  get state(): MatchState {
    this.#deadlines.judge();
    return this.#state;
  }

  get allows(): Permissions {
    return this.allowsIn(this.state.phase);
  }

  allowsIn(phase: Phase): Permissions {
    return this.#settings.phases[phase];
  }

  /** When the lock in force was asked for last, in Clock milliseconds of this process. */
  get lockedMs(): number {
    return this.#lockedMs;
  }

  /** When a desk set the phase last, in Clock milliseconds of this process. */
  get setMs(): number {
    return this.#setMs;
  }

  /** Whether the robot plays and no desk sends beats. */
  get refereeSilent(): boolean {
    return PLAY.includes(this.state.phase) && this.#isSilent;
  }

  /** Whether the referee is silent and the configuration stops the robot for that. */
  get refereeLost(): boolean {
    return this.refereeSilent && this.#settings.onRefereeSilence === 'stop';
  }

  get #isSilent(): boolean {
    return this.#silence.atMs === NEVER;
  }

  /** Throws `locked`, `referee-silent` or `wrong-phase`. */
  require(act: Act): void {
    const { lock, phase } = this.state;
    if (lock !== null) throw new RobotError('locked', { ...lock });
    if (this.refereeLost) throw new RobotError('referee-silent');
    if (!isAllowed(act, this.allows)) throw new RobotError('wrong-phase', { phase });
  }

  /** Whether nothing may move. */
  get forbidsMotion(): boolean {
    return this.state.lock !== null || this.refereeLost || !this.allows.drive;
  }

  /** A lock with the id of the lock in force changes nothing, but an older unlock no longer removes it. */
  lock(lock: Lock): void {
    this.#lockedMs = this.#clock.nowMs();
    if (this.state.lock?.id !== lock.id) this.#change({ lock });
  }

  /** Removes the lock. With `id`, throws `lock-changed` if another lock is in force. */
  unlock(id?: string): void {
    const { lock } = this.state;
    if (id !== undefined && lock !== null && lock.id !== id) throw new RobotError('lock-changed', lock);
    this.#change({ lock: null });
  }

  /**
   * Sets the phase for the caller `by`, a token or an address. An exact repeat of the last call changes nothing. Throws
   * `lease-held`, `stale-match`, or `referee-silent` if the phase needs a referee. `remainingS` counts from `sinceMs`.
   */
  set(call: MatchCall, by: string, sinceMs = this.#clock.nowMs()): void {
    const { phase, remainingS } = call;
    if (!FOR_EVERY_REFEREE.includes(phase)) this.lease.requireNoOther(by);
    if (isDeepStrictEqual(call, this.state.call)) return;
    this.#requireFresh(call);
    const needsReferee = PLAY.includes(phase) && this.#settings.onRefereeSilence === 'stop';
    if (needsReferee && this.#isSilent) throw new RobotError('referee-silent');
    const runs = remainingS !== null && !OVER.includes(phase);
    this.#setMs = this.#clock.nowMs();
    this.#change({ call, phase, endsAtMs: runs ? sinceMs + remainingS * 1000 : null }, 'set');
  }

  /** Ends the match, whatever the desk's latest revision is. Throws `wrong-phase` if there is no match. */
  end(): void {
    this.#leave(['none'], 'ended', 'No match runs, so none was ended.');
  }

  /**
   * Sets `none`, which allows a resume. The last call stays, so a repeat of it does not begin its phase again. Throws
   * `wrong-phase` during a match.
   */
  clear(): void {
    this.#leave([...PLAY, 'pause'], 'none', 'trunnion match end ends the match.');
  }

  #leave(forbidden: readonly Phase[], phase: Phase, cure: string): void {
    const { phase: before } = this.state;
    if (forbidden.includes(before)) throw new RobotError('wrong-phase', { phase: before, cure });
    this.#change({ phase, endsAtMs: null }, 'root');
  }

  /** Accepts a beat of a desk, which counts from `sinceMs`. Throws `lease-held` while another desk has the lease. */
  beat(holder: string, by: string, ttlMs: number, takeover: boolean, sinceMs = this.#clock.nowMs()): void {
    this.#deadlines.judge();
    const wasSilent = this.#isSilent;
    const before = this.lease.owner;
    this.lease.beat({ holder, by }, ttlMs, takeover, sinceMs);
    const untilMs = sinceMs + this.#settings.refereeSilenceMs;
    const isHeard = untilMs > this.#clock.nowMs();
    const isOther = before?.holder !== holder || before.by !== by;
    if (isOther) {
      this.happened.emit({ what: 'lease', who: by, detail: { holder, before: before?.holder ?? null } });
    }
    if (wasSilent && isHeard) this.happened.emit({ what: 'referee-heard', detail: { holder } });
    // A beat whose body came late is not the newest one.
    if (isHeard) this.#silence.set(wasSilent ? untilMs : Math.max(untilMs, this.#silence.atMs));
    if (wasSilent || isOther) this.changed.emit();
  }

  #requireFresh(call: MatchCall): void {
    const { call: last, phase } = this.state;
    if (last === null) return;
    const { id, revision } = last;
    const mayBegin = OVER.includes(phase) || BEGINNINGS.includes(call.phase);
    const isFresh = call.id === id ? call.revision > revision : mayBegin;
    if (!isFresh) throw new RobotError('stale-match', { id, revision, phase });
  }

  #change(to: Partial<MatchState>, why?: string): void {
    const before = this.state.phase;
    this.#state = { ...this.#state, ...to };
    const after = this.#state.phase;
    if (before !== after)
      this.happened.emit({ what: 'phase', detail: { before, after, ...(why && { why }) } });
    this.#end.set(this.#state.endsAtMs ?? NEVER);
    this.changed.emit();
  }

  #becameSilent(): void {
    if (!PLAY.includes(this.#state.phase)) return;
    this.happened.emit({ what: 'referee-silent', detail: { holder: this.lease.owner?.holder ?? null } });
    this.changed.emit();
    if (this.refereeLost) this.mustStop.emit('the referee is silent');
  }
}

/** Whether these permissions allow the act. After a resume, the units are in manual. */
export function isAllowed(act: Act, { drive, modes, resume, laser, tune }: Permissions): boolean {
  if (act.kind === 'mode') return drive && modes.includes(act.mode);
  if (act.kind === 'drive') return drive && modes.includes('manual');
  if (act.kind === 'resume') return resume && drive && modes.includes('manual');
  if (act.kind === 'excite') return drive && modes.includes('debug');
  return { light: laser, save: tune, trial: tune }[act.kind];
}
