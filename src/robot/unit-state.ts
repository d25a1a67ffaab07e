import type { Clock } from '../core/clock.js';
import { type Deadline, type Deadlines, NEVER } from '../core/deadlines.js';
import { RobotError } from '../core/errors.js';
import { isVisual } from '../core/loop-controllers.js';
import type { Excitation, GainSet, Loop, Mode, Unit } from '../core/units.js';
import { gainsChecksum } from '../protocol/codec.js';
import type { Readings } from '../protocol/telemetry.js';
import { latchOf } from './latch.js';
import type { ControllerStatus, GuardedExcitation } from './motor-controller.js';
import { Observed } from './observed.js';
import { type Cause, type Causes, decide, type News } from './unit-rules.js';
import { UnsettledFrames } from './unsettled-frames.js';
import { isReleasing, isSameExcitation, NOTHING_WANTED, type Wanted } from './wanted.js';

interface UnitStateOptions {
  readonly unit: Unit;
  readonly clock: Clock;
  readonly deadlines: Deadlines;
  /** The gains of the journal. Undefined while the journal cannot be read; the controller then keeps its gains. */
  readonly saved: () => GainSet | undefined;
  /** Whether a controller that reset itself may get its last mode back. */
  readonly restores: (mode: Mode) => boolean;
  readonly emit: (news: News) => void;
}

/**
 * What is wanted of one unit, what its controller showed, and the difference. `unit-rules.ts` decides what is wanted. A
 * refused request never changes it, so nothing needs to be undone. This class does not talk to the controller.
 */
export class UnitState {
  readonly #options: UnitStateOptions;
  #wanted = NOTHING_WANTED;
  readonly #lease: Deadline;
  readonly #drivenUntil: Deadline;
  readonly unit: Unit;
  readonly emit: (news: News) => void;
  readonly observed = new Observed();
  readonly modeFrames = new UnsettledFrames();
  readonly excitationFrames = new UnsettledFrames();
  readonly latch = latchOf(
    () => this.#wanted,
    () => this.observed.has('stopped'),
  );
  /** Caches the checksums of compared sets, because every poll compares. */
  readonly #checksums = new WeakMap<GainSet, number>();

  constructor(options: UnitStateOptions) {
    const { deadlines, unit, emit } = options;
    this.#options = options;
    this.unit = unit;
    this.emit = emit;
    this.#lease = deadlines.make(() => this.take('trial over', { why: 'lease' }));
    this.#drivenUntil = deadlines.make(() => this.take('drive over', { why: 'silent' }));
  }

  get wanted(): Wanted {
    this.#options.deadlines.judge();
    return this.#wanted;
  }

  /** Changes what is wanted, as the rules say. */
  take<C extends Cause>(cause: C, detail: Causes[C]): void {
    const before = this.wanted;
    const { wanted, news } = decide(before, cause, detail);
    this.#wanted = wanted;
    if (wanted.trial !== before.trial) this.#lease.set(wanted.trial?.endsAtMs ?? NEVER);
    if (wanted.driver !== before.driver) this.#drivenUntil.set(wanted.driver?.untilMs ?? NEVER);
    for (const one of news) this.emit(one);
  }

  /**
   * Takes a cause that ends the excitation. The controller still shows the old excitation until it has ended it. The
   * daemon must not adopt that excitation as the controller's own choice.
   */
  endExcitation<C extends Cause>(cause: C, detail: Causes[C]): void {
    this.take(cause, detail);
    this.excitationFrames.disturb();
  }

  /** Takes in the status that the controller shows. */
  saw(status: ControllerStatus): void {
    const { clock, restores } = this.#options;
    const { emit, observed, unit } = this;
    const before = observed.status;
    if (before !== undefined && before.bootId !== status.bootId) {
      observed.excitation = undefined;
      // Frames in flight may have reached the controller after its reset.
      this.modeFrames.disturb();
      const { mode } = this.wanted;
      this.endExcitation('reset', { mayKeepMode: mode !== undefined && restores(mode) });
    }
    observed.status = status;
    if (status.activeChecksum !== before?.activeChecksum) observed.gainsSinceMs = clock.nowMs();
    const { faults, flags, mode } = status;
    if (this.wanted.mode === undefined) this.take('first contact', { mode });
    else if (!this.modeFrames.explain(mode === this.wanted.mode, clock.nowMs()))
      this.take('own mode', { mode });
    this.latch.saw(clock.nowMs());
    if (!flags.includes('torque')) this.endExcitation('no torque', { isLatched: flags.includes('stopped') });
    if (mode !== before?.mode) emit({ what: 'mode', detail: { before: before?.mode ?? null, after: mode } });
    const old = before?.faults ?? [];
    const appeared = faults.filter(fault => !old.includes(fault));
    // The guard and another mode have ended the excitation. If the amplitude were not 0 here, a frame with amplitude 0 would be
    // written, and would clear `ran_away`.
    const hasEnded = appeared.includes('ran_away') || mode !== 'debug';
    if (hasEnded && observed.excitation !== undefined && observed.excitation.amplitude !== 0)
      observed.excitation = { ...observed.excitation, amplitude: 0 };
    const gone = old.filter(fault => !faults.includes(fault));
    if (appeared.length + gone.length > 0) this.take('faults', { appeared, gone });
    if (before?.flags.includes('target_visible') && !flags.includes('target_visible')) {
      const followers = unit.loops.filter(isVisual).map(({ name }) => name);
      this.take('target lost', { mode, followers });
    }
  }

  /**
   * Takes in readings. A loop that was beyond its bound when the trial began counts only after it has been within its
   * bound. Example: in debug mode a visual loop does nothing, so its measured value may stay far from its setpoint.
   */
  sawReadings(readings: Readings): void {
    const { observed } = this;
    const before = this.#pastBound;
    observed.telemetry = { ...readings, atMs: this.#options.clock.nowMs() };
    if (this.#pastBound.some(loop => !before.includes(loop))) this.take('loop past its bound', {});
  }

  /** Takes in the controller's excitation. */
  sawExcitation(shown: GuardedExcitation): void {
    const excitation = this.observed.show(shown);
    const { wanted } = this;
    if (this.observed.mode !== 'debug' || wanted.mode !== 'debug') return;
    const agrees = isSameExcitation(wanted.excitation, excitation);
    if (!this.excitationFrames.explain(agrees, this.#options.clock.nowMs()))
      this.take('own excitation', { excitation });
  }

  /**
   * Call this when the controller has confirmed a caller's mode switch. `shown` is what the controller shows in debug
   * mode.
   */
  confirmedMode(mode: Mode, shown: GuardedExcitation | undefined): void {
    const excitation = shown && this.observed.show(shown);
    this.modeFrames.explain(true, this.#options.clock.nowMs());
    this.take('mode', { mode, excitation });
  }

  /** The controller is unreachable. */
  lost(problem: RobotError): void {
    const { observed } = this;
    const wasOnline = observed.online;
    observed.online = false;
    observed.problem = problem;
    observed.telemetry = undefined;
    if (wasOnline) this.endExcitation('offline', {});
  }

  /** Call this when the resume was answered 200. */
  released(isConfirmed: boolean): void {
    this.take('resume', { isConfirmed });
    // A controller that missed the resume shows its old mode. That mode is not its own choice, even if a stop
    // follows.
    if (!isConfirmed) this.modeFrames.disturb();
  }

  get saved(): GainSet | undefined {
    return this.#options.saved();
  }

  /**
   * The gains that the controller should run: those of a save under way, otherwise those of a trial, otherwise those of
   * the journal. Undefined while the journal cannot be read.
   */
  get gains(): GainSet | undefined {
    return this.wanted.saving.at(-1) ?? this.wanted.trial?.gains ?? this.saved;
  }

  /** Whether the controller shows that it runs these gains. False while they are unknown. */
  runs(gains: GainSet | undefined): boolean {
    if (gains === undefined) return false;
    const checksum = this.#checksums.get(gains) ?? gainsChecksum(this.unit, gains);
    this.#checksums.set(gains, checksum);
    return checksum === this.observed.status?.activeChecksum;
  }

  /**
   * The wanted mode, gains and excitation that the controller does not show yet. A value that it shows is undefined. If it
   * shows all of them, the result is undefined. The latch is not included, because the reconciler corrects it first.
   */
  get difference() {
    const { wanted, observed, gains: due } = this;
    if (observed.status === undefined || wanted.mode === undefined) return undefined;
    const gains = this.runs(due) ? undefined : due;
    // The mode is not corrected before a release, because the release puts the controller into manual.
    const mode = isReleasing(wanted) || observed.mode === wanted.mode ? undefined : wanted.mode;
    const excitation = this.dueExcitation(wanted.trial !== undefined);
    if (mode === undefined && gains === undefined && excitation === undefined) return undefined;
    return { mode, gains, excitation };
  }

  /** The excitation to write. Undefined if the controller shows it. `isTrial`: a trial runs or is about to begin. */
  dueExcitation(isTrial: boolean): GuardedExcitation | undefined {
    const { excitation: shown, guard, mode } = this.observed;
    const { wanted } = this;
    if (wanted.mode !== 'debug' || mode !== 'debug' || shown === undefined) return undefined;
    const { runaway, ...excitation } = wanted.excitation ?? { ...shown, amplitude: 0, runaway: undefined };
    const due = this.guarded(excitation, runaway, isTrial);
    const isGuarded = due.amplitude === 0 || Math.fround(due.deviation) === guard;
    return isSameExcitation(wanted.excitation, shown) && isGuarded ? undefined : due;
  }

  /**
   * In a trial, adds the guard: `runaway`, or else the loop's own bound. Saved gains run without a guard,
   * because a caller chose them deliberately.
   */
  guarded(
    excitation: Excitation,
    runaway: number | undefined,
    isTrial = this.wanted.trial !== undefined,
  ): GuardedExcitation {
    const loop = this.unit.loops.find(({ name }) => name === excitation.loop);
    const isGuarded = isTrial && excitation.amplitude !== 0 && this.observed.has('guarded_excitation');
    return { ...excitation, deviation: isGuarded ? (runaway ?? loop?.runaway ?? 0) : 0 };
  }

  /** Returns a check that throws if the value has changed since this call. */
  unchanged(register: 'boot_id' | 'mode' | 'excitation', value: () => unknown): () => void {
    const before = value();
    return () => {
      if (value() !== before) throw new RobotError('not-confirmed', { unit: this.unit.name, register });
    };
  }

  /**
   * Returns a check that throws if the controller has been reset since this call. A reset loses everything that the
   * controller confirmed.
   */
  sameBoot(): () => void {
    return this.unchanged('boot_id', () => this.observed.status?.bootId);
  }

  /**
   * Like `sameBoot`. The check also throws if the wanted excitation has changed since this call: the guard may have
   * ended it.
   */
  sameExcitation(): () => void {
    const checks = [this.sameBoot(), this.unchanged('excitation', () => this.wanted.excitation)];
    return () => {
      for (const check of checks) check();
    };
  }

  /**
   * Returns a check that throws `trial-ended` if a cause since this call would end any trial. The check also
   * covers a trial that is just being begun or renewed.
   */
  noneEnded(): () => void {
    const { trialsEnded } = this.wanted;
    return () => {
      if (this.wanted.trialsEnded !== trialsEnded) throw new RobotError('trial-ended');
    };
  }

  /** The loops whose measured value is further from the setpoint than their bound. */
  get #pastBound(): readonly Loop[] {
    return this.unit.loops.filter(({ name, runaway }) => {
      const { setpoint = 0, measured = 0 } = this.observed.telemetry?.loops[name] ?? {};
      return Math.abs(setpoint - measured) > runaway;
    });
  }
}
