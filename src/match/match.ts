import type { Clock, Timer } from '../core/clock.js';
import { RobotError } from '../core/errors.js';
import { Listeners } from '../core/listeners.js';
import type { Permissions, Phase } from '../core/phases.js';
import type { Act, Permission } from '../robot/permission.js';
import type { Happening } from '../schemas/log.js';
import { Lease } from './lease.js';

export interface MatchSettings {
  readonly refereeSilenceMs: number;
  readonly onRefereeSilence: 'stop' | 'hold';
  readonly phases: Readonly<Record<Phase, Permissions>>;
}

export interface Lock {
  readonly by: string;
  readonly reason: string;
}

/** The settings that a desk sends. */
export interface MatchCall {
  readonly id: string;
  readonly revision: number;
  readonly phase: Phase;
  /** Null where the phase does not end by itself. */
  readonly remainingS: number | null;
}

/** The part of the match that outlives the daemon. */
export interface MatchState {
  readonly lock: Lock | null;
  /** Null before the first match. */
  readonly call: MatchCall | null;
  /** Differs from the phase of the last call after its time ran out, or after a reboot. */
  readonly phase: Phase;
  /** The end of the phase in milliseconds of the clock; null where it does not end by itself. */
  readonly endsAtMs: number | null;
}

export const NO_MATCH: MatchState = { lock: null, call: null, phase: 'none', endsAtMs: null };

/** Phases in which the robot plays, and a referee has to be there. */
function isPlay(phase: Phase): boolean {
  return phase === 'auto' || phase === 'teleop';
}

/** Phases that every referee may set, whoever has the lease: they only make the robot safer. */
function isRest(phase: Phase): boolean {
  return phase === 'pause' || phase === 'ended';
}

function isOver(phase: Phase): boolean {
  return phase === 'none' || phase === 'ended';
}

/** Lock, phase and lease of a match, and what they allow. It asks for stops (`mustStop`) and starts nothing, ever. */
export class Match implements Permission {
  readonly lease: Lease;
  /** Emitted when something has changed that status shows or the disk keeps. */
  readonly changed = new Listeners<void>();
  readonly happened = new Listeners<Happening>();
  /** Emitted when the robot has to stop; the text says why: time is up, or the referee is silent. */
  readonly mustStop = new Listeners<string>();
  readonly #clock: Clock;
  readonly #settings: MatchSettings;
  #state: MatchState;
  #end: Timer | undefined;
  #silence: Timer | undefined;

  constructor(options: { clock: Clock; settings: MatchSettings; state: MatchState }) {
    this.#clock = options.clock;
    this.#settings = options.settings;
    this.#state = options.state;
    this.lease = new Lease(options.clock);
    this.#armEnd();
  }

  get state(): MatchState {
    return this.#state;
  }

  get allows(): Permissions {
    return this.#settings.phases[this.#state.phase];
  }

  /** Whether the robot plays without a referee. */
  get refereeSilent(): boolean {
    return isPlay(this.#state.phase) && this.isSilent;
  }

  /** Whether the robot plays without a referee where that has to stop it. */
  get refereeLost(): boolean {
    return this.refereeSilent && this.#settings.onRefereeSilence === 'stop';
  }

  /** Whether no beat of a desk was accepted for too long, or ever. */
  get isSilent(): boolean {
    return this.lease.silentMs >= this.#settings.refereeSilenceMs;
  }

  /** Throws `locked`, `referee-silent` or `wrong-phase`. */
  require(act: Act): void {
    const { lock, phase } = this.#state;
    if (lock !== null) throw new RobotError('locked', { ...lock });
    if (this.refereeLost) throw new RobotError('referee-silent');
    if (!isAllowed(act, this.allows)) throw new RobotError('wrong-phase', { phase });
  }

  /** Whether the phase or the lock forbids that anything runs at all. */
  get forbidsMotion(): boolean {
    return this.#state.lock !== null || this.refereeLost || !this.allows.drive;
  }

  lock(lock: Lock): void {
    this.#change({ lock });
  }

  unlock(): void {
    this.#change({ lock: null });
  }

  /**
   * `by` is the caller's token or address. An exact repeat of the last call changes nothing. Throws `lease-held`,
   * `stale-match`, or `referee-silent` if the phase needs a referee and none is heard.
   */
  set(call: MatchCall, by: string): void {
    if (!isRest(call.phase)) this.lease.requireNoOther(by);
    const last = this.#state.call;
    if (last !== null && isSame(last, call)) return;
    this.#requireFresh(call);
    const { phase, remainingS } = call;
    const needsReferee = isPlay(phase) && this.#settings.onRefereeSilence === 'stop';
    if (needsReferee && this.isSilent) throw new RobotError('referee-silent');
    const runs = remainingS !== null && !isOver(phase);
    const endsAtMs = runs ? this.#clock.nowMs() + remainingS * 1000 : null;
    this.#change({ call, phase, endsAtMs }, 'set');
    this.#armEnd();
    this.#armSilence();
  }

  /** Ends the match at once, whatever revision the desk is at. */
  end(): void {
    this.#change({ phase: 'ended', endsAtMs: null }, 'break glass');
    this.#armEnd();
    this.#armSilence();
  }

  /** The desk's heartbeat. Throws `lease-held` while another holder has it. */
  beat(holder: string, by: string, ttlMs: number, takeover: boolean): void {
    const wasSilent = this.isSilent;
    const before = this.lease.owner;
    this.lease.beat({ holder, by }, ttlMs, takeover);
    const isOther = before?.holder !== holder || before.by !== by;
    if (isOther) {
      this.happened.emit({ what: 'lease', who: by, detail: { holder, before: before?.holder ?? null } });
    }
    if (wasSilent) this.happened.emit({ what: 'referee-heard', detail: { holder } });
    if (wasSilent || isOther) this.changed.emit();
    this.#armSilence();
  }

  close(): void {
    this.#end?.cancel();
    this.#silence?.cancel();
  }

  #requireFresh({ id, revision, phase: called }: MatchCall): void {
    const { call: last, phase } = this.#state;
    if (last === null) return;
    // A new match must not begin in the middle of another, unless it begins with the robot at rest.
    const mayBegin = isOver(phase) || called === 'pre' || called === 'ended';
    const fresh = id === last.id ? revision > last.revision : mayBegin;
    if (!fresh) throw new RobotError('stale-match', { id: last.id, revision: last.revision, phase });
  }

  #change(to: Partial<MatchState>, why?: string): void {
    const before = this.#state.phase;
    this.#state = { ...this.#state, ...to };
    const after = this.#state.phase;
    if (before !== after) {
      this.happened.emit({
        what: 'phase',
        detail: why === undefined ? { before, after } : { before, after, why },
      });
    }
    this.changed.emit();
  }

  #armEnd(): void {
    this.#end?.cancel();
    const { endsAtMs } = this.#state;
    if (endsAtMs === null) return;
    this.#end = this.#clock.after(Math.max(0, endsAtMs - this.#clock.nowMs()), () => {
      this.#change({ phase: 'ended', endsAtMs: null }, 'time is up');
      this.#armSilence();
      this.mustStop.emit('time is up');
    });
  }

  #armSilence(): void {
    this.#silence?.cancel();
    if (!isPlay(this.#state.phase) || this.isSilent) return;
    const leftMs = this.#settings.refereeSilenceMs - this.lease.silentMs;
    this.#silence = this.#clock.after(leftMs, () => {
      if (!this.isSilent) return this.#armSilence();
      this.happened.emit({ what: 'referee-silent', detail: { holder: this.lease.owner?.holder ?? null } });
      this.changed.emit();
      if (this.refereeLost) this.mustStop.emit('the referee is silent');
    });
  }
}

function isAllowed(act: Act, allows: Permissions): boolean {
  switch (act.kind) {
    case 'mode':
      return allows.drive && allows.modes.includes(act.mode);
    case 'excite':
      return allows.drive && allows.modes.includes('debug');
    case 'resume':
      return allows.resume;
    case 'light':
      return allows.laser;
    case 'save':
    case 'trial':
      return allows.tune;
  }
}

function isSame(one: MatchCall, other: MatchCall): boolean {
  return (
    one.id === other.id &&
    one.revision === other.revision &&
    one.phase === other.phase &&
    one.remainingS === other.remainingS
  );
}
