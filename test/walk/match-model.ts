import { DEFAULT_PERMISSIONS, type Phase } from '../../src/core/phases.js';
import { isAccessRefusal } from './access-model.js';
import { isBeat, isCall, isChange, isDebug, isDrive, isLock, isLockChange, isTune } from './acts.js';
import { type Asked, bodyMember, type InFlight } from './asked.js';
import { promise } from './broken-promise.js';
import { CallModel, callText } from './call-model.js';
import { Candidates } from './candidates.js';
import type { WalkSettings } from './history.js';
import { LeaseModel } from './lease-model.js';
import { afterCut, GRACE_MS, isPlay, NO_MATCH, possible, standingOf } from './standing-phase.js';
import type { UnitShown } from './unit-model.js';

/** If the disk does not have the newest state, status says so within this time. */
const SHOWN_MS = 1000;

/** What the API shows of the match when the robot has settled. */
export interface MatchShown {
  readonly phase: Phase;
  readonly locked: boolean;
  readonly refereeSilent: boolean;
  /** True if the disk has every change, except those whose callers hung up a moment ago. */
  readonly recorded: boolean;
}

/** The effect of an answer on the robot. */
type Effect = 'none' | 'may stop' | 'stops' | 'stops, confirmed';

/** Knows lock, phase and lease of the match: what they forbid, and which values survive a restart. */
export class MatchModel {
  readonly lease: LeaseModel;
  readonly #stopsWhenSilent: boolean;
  readonly #locked = new Candidates(false);
  readonly #phase = new Candidates(NO_MATCH);
  /** The values that the disk may hold. */
  readonly #keptLock = new Candidates(false);
  readonly #keptPhase = new Candidates(NO_MATCH);
  readonly #inFlight: InFlight;
  /** When a caller last hung up during a change of lock or phase. */
  #abandonedMs = Number.NEGATIVE_INFINITY;
  readonly #calls = new Set<string>();
  readonly #lastCall: CallModel;

  constructor({ refereeSilenceMs, onRefereeSilence }: WalkSettings, inFlight: InFlight) {
    this.lease = new LeaseModel(refereeSilenceMs, inFlight);
    this.#lastCall = new CallModel(inFlight);
    this.#inFlight = inFlight;
    this.#stopsWhenSilent = onRefereeSilence === 'stop';
  }

  sent(asked: Asked): void {
    if (isCall(asked)) this.#lastCall.sent();
  }

  answered(asked: Asked, nowMs: number): Effect {
    if (asked.answer === undefined) return 'none';
    const { status, body, at } = asked.answer;
    if (isBeat(asked)) {
      const isStopped = status === 200 && this.#stopsBefore(asked);
      this.lease.answered(asked, nowMs);
      return isStopped ? 'stops' : 'none';
    }
    if (!isChange(asked)) return 'none';
    if (body?.code === 'closing') {
      this.#maybe(asked, nowMs, at);
      return 'may stop';
    }
    if (isCall(asked)) this.lease.judgePhase(asked, nowMs);
    if (isCall(asked))
      this.#lastCall.answered(asked, [...this.#phases(asked.sentMs - GRACE_MS), ...this.#phases(nowMs)]);
    const isKept = status === 200;
    const stands = isKept || (status === 503 && !isAccessRefusal(asked.answer));
    if (!stands) return 'none';
    if (isCall(asked)) return this.#called(asked, isKept, nowMs, at);
    const locked = isLock(asked);
    this.#locked.sure(locked, asked.sent, at);
    if (isKept) this.#keptLock.sure(locked, asked.sent, at);
    else this.#keptLock.maybe(locked, asked.sent, at);
    if (!locked) return 'none';
    return isKept ? 'stops, confirmed' : 'stops';
  }

  /** Whether a late beat is taken only after the silence before it has stopped the robot. */
  #stopsBefore(beat: Asked): boolean {
    const plays = this.#phaseSince < beat.sent && this.#phases(beat.sentMs).every(isPlay);
    return this.#stopsWhenSilent && plays && this.lease.surelySilentAt(beat.sentMs);
  }

  abandoned(asked: Asked, nowMs: number, at: number): void {
    if (isBeat(asked)) this.lease.abandoned(nowMs);
    if (!isChange(asked)) return;
    this.#abandonedMs = nowMs;
    if (isCall(asked)) this.#lastCall.lost();
    this.#maybe(asked, nowMs, at);
  }

  /** `isCut`: the power was cut, so the duration of the outage is unknown. */
  ended(isCut: boolean, nowMs: number, at: number): void {
    for (const asked of this.#inFlight) if (isChange(asked)) this.#maybe(asked, nowMs, at);
    this.#lastCall.lost();
    this.lease.ended();
    const phases = isCut
      ? this.#keptPhase.values.flatMap(standing => afterCut(standing, nowMs))
      : this.#keptPhase.values;
    this.#locked.are(this.#keptLock.values, at);
    this.#phase.are(phases, at);
    this.#keptPhase.are(phases, at);
  }

  /** An unreadable record counts as locked and without a match. The next change overwrites it. */
  unread(at: number): void {
    for (const lock of [this.#locked, this.#keptLock]) lock.maybe(true, at, at);
    for (const phase of [this.#phase, this.#keptPhase]) phase.maybe(NO_MATCH, at, at);
  }

  /** Whether a daemon that starts now stops the robot on its own. */
  startStops(nowMs: number): 'yes' | 'no' | 'maybe' {
    const stops = this.#phases(nowMs).map(
      phase => !DEFAULT_PERMISSIONS[phase].drive || (isPlay(phase) && this.#stopsWhenSilent),
    );
    if (this.#locked.must(true) || stops.every(Boolean)) return 'yes';
    return this.#locked.can(true) || stops.some(Boolean) ? 'maybe' : 'no';
  }

  /** Whether the robot may have stopped without a caller, for example because `auto` and `teleop` forbid debug mode. */
  mayStopByItself(nowMs: number, mayDebug: boolean): boolean {
    const mayPlay = this.#phases(nowMs).some(isPlay);
    return (
      (mayPlay && mayDebug) ||
      this.#phase.values.some(
        standing => nowMs >= standing.fromMs || !DEFAULT_PERMISSIONS[standing.phase].drive,
      ) ||
      (mayPlay && this.#stopsWhenSilent && this.lease.maybeSilentAt(nowMs))
    );
  }

  /** True if the referee has certainly been silent for longer than the limit. */
  surelyLost(nowMs: number): boolean {
    return (
      this.#stopsWhenSilent &&
      this.#phaseSince < Number.POSITIVE_INFINITY &&
      this.#phases(nowMs).every(isPlay) &&
      this.lease.surelySilentAt(nowMs - GRACE_MS)
    );
  }

  /** Returns the reason for which a 200 would be wrong, or undefined if a 200 is allowed. */
  forbids(asked: Asked, nowMs: number): string | undefined {
    const drives = isDrive(asked);
    const tunes = isTune(asked);
    if (isCall(asked)) {
      const isNew = !this.#calls.has(callText(asked));
      const needs = this.#stopsWhenSilent && isNew && isPlay(bodyMember(asked, 'phase'));
      return needs && this.lease.surelySilentAt(asked.sentMs) ? 'the referee is silent' : undefined;
    }
    if (!drives && !tunes) return undefined;
    if (this.#lockSince < asked.sent && this.#locked.must(true)) return 'locked';
    if (this.#phaseSince >= asked.sent) return undefined;
    const phases = [...this.#phases(asked.sentMs - GRACE_MS), ...this.#phases(nowMs)];
    const every = (forbids: (phase: Phase) => boolean) => phases.every(forbids);
    if (drives && every(phase => !DEFAULT_PERMISSIONS[phase].drive)) return `phase ${phases}`;
    if (tunes && every(phase => !DEFAULT_PERMISSIONS[phase].tune)) return `phase ${phases}`;
    const debug = isDebug(asked);
    if (debug && every(phase => !DEFAULT_PERMISSIONS[phase].modes.includes('debug')))
      return `phase ${phases}`;
    const lost = every(isPlay) && this.#stopsWhenSilent && this.lease.surelySilentAt(asked.sentMs);
    return lost ? 'the referee is silent' : undefined;
  }

  /** Checks that a refusal for lock, phase or referee has a possible reason. */
  judgeRefusal(asked: Asked, nowMs: number): void {
    const code = asked.answer?.body?.code;
    const said = () => `${asked.path} is refused as ${code}`;
    const phases = this.#phases(nowMs);
    promise(
      code !== 'locked' || this.#lockSince > asked.sent || this.#locked.can(true),
      'refused as locked',
      said,
    );
    promise(
      code !== 'wrong-phase' || this.#phaseSince > asked.sent || phases.some(phase => phase !== 'none'),
      'refused in the phase',
      said,
    );
    const silent = this.lease.maybeSilentSince(asked.sentMs, nowMs);
    promise(code !== 'referee-silent' || silent, 'refused as without a referee', said);
  }

  judgeSettled(shown: MatchShown, stopped: boolean, nowMs: number): void {
    const { phase, locked, refereeSilent } = shown;
    promise(this.#locked.can(locked), 'lock', () => `locked is ${locked}, not ${this.#locked.values}`);
    const phases = this.#phases(nowMs);
    promise(phases.includes(phase), 'phase', () => `the phase is ${phase}; ${phases} would be right`);
    promise(stopped || !locked, 'stopped while locked', () => 'the robot is locked and not stopped');
    const { drive } = DEFAULT_PERMISSIONS[phase];
    promise(stopped || drive, 'stopped in the phase', () => `the robot is not stopped in phase ${phase}`);
    const lost = isPlay(phase) && this.lease.surelySilentAt(nowMs - GRACE_MS);
    promise(refereeSilent || !lost, 'referee silent', () => 'the referee is silent, and not shown so');
    const may = stopped || !lost || !this.#stopsWhenSilent;
    promise(may, 'stopped without a referee', () => 'a play goes on without a referee');
  }

  /** Checks that the unit's mode and its trial are allowed in the phase. */
  judgeSettledUnit({ phase }: MatchShown, stopped: boolean, { mode, isTried }: UnitShown): void {
    const { modes, tune } = DEFAULT_PERMISSIONS[phase];
    promise(!(stopped && isTried), 'no trial while stopped', () => 'a trial runs on a stopped robot');
    const mayBeIn = stopped || modes.some(one => one === mode);
    promise(mayBeIn, 'mode in the phase', () => `a unit is in ${mode} in ${phase}`);
    promise(stopped || tune || !isTried, 'trial in the phase', () => `a trial runs in ${phase}`);
  }

  adopt({ phase, locked, recorded }: MatchShown, nowMs: number, at: number): void {
    const standing = this.#phase.values.filter(one => possible(one, nowMs).includes(phase));
    this.#phase.are(standing, at);
    this.#locked.are([locked], at);
    if (recorded && nowMs - this.#abandonedMs > SHOWN_MS) {
      this.#keptPhase.are(standing, at);
      this.#keptLock.are([locked], at);
    }
  }

  /** The event number since which the lock cannot have changed. Infinite while a request may change it. */
  get #lockSince(): number {
    return [...this.#inFlight].some(isLockChange) ? Number.POSITIVE_INFINITY : this.#locked.lastAt;
  }

  /** As `#lockSince`, for the phase. */
  get #phaseSince(): number {
    return [...this.#inFlight].some(isCall) ? Number.POSITIVE_INFINITY : this.#phase.lastAt;
  }

  #phases(nowMs: number): readonly Phase[] {
    return this.#phase.values.flatMap(standing => possible(standing, nowMs));
  }

  #called(asked: Asked, isKept: boolean, nowMs: number, at: number): Effect {
    const standing = standingOf(asked, nowMs);
    const text = callText(asked);
    // A repeated call may have no effect.
    if (this.#calls.has(text)) {
      this.#maybe(asked, nowMs, at);
      return 'may stop';
    }
    this.#calls.add(text);
    this.#phase.sure(standing, asked.sent, at);
    if (isKept) this.#keptPhase.sure(standing, asked.sent, at);
    else this.#keptPhase.maybe(standing, asked.sent, at);
    const { drive, modes } = DEFAULT_PERMISSIONS[standing.phase];
    if (!drive) return isKept ? 'stops, confirmed' : 'stops';
    return modes.includes('debug') ? 'none' : 'may stop';
  }

  #maybe(asked: Asked, nowMs: number, at: number): void {
    if (isCall(asked)) {
      this.#calls.add(callText(asked));
      const standing = standingOf(asked, nowMs + GRACE_MS);
      for (const phase of [this.#phase, this.#keptPhase]) phase.maybe(standing, asked.sent, at);
    } else {
      for (const lock of [this.#locked, this.#keptLock]) lock.maybe(isLock(asked), asked.sent, at);
    }
  }
}
