import type { Clock } from '../core/clock.js';
import { RobotError } from '../core/errors.js';
import { isVisual } from '../core/loop-controllers.js';
import type { Excitation, Loop, Mode } from '../core/units.js';
import type { Readings } from '../protocol/telemetry.js';
import type { Build } from '../schemas/status.js';
import { Driver } from './driver.js';
import type { ControllerStatus, Identity } from './motor-controller.js';
import type { ExcitationEnd } from './robot-event.js';
import { WantedGains } from './wanted-gains.js';
import { type GuardedExcitation, UnsettledFrames, WantedExcitation, WantedLatch } from './wanted-motion.js';

/** Faults that report a frame damaged on the bus. They say nothing about the motors. */
const HARMLESS: readonly string[] = ['frame_refused', 'commit_refused'];

type UnitStateOptions = ConstructorParameters<typeof WantedGains>[0] & {
  readonly clock: Clock;
  /** Whether a controller that reset itself gets its last mode back. Otherwise it is put into manual. */
  readonly restores: (mode: Mode) => boolean;
};

/** Readings, and when they arrived (Clock milliseconds). */
export interface TimedReadings extends Readings {
  readonly atMs: number;
}

/**
 * The wanted and the observed state of one unit. A wanted value is the one that was last answered 200, or one that
 * the controller chose itself. A refused request never changes it, so nothing needs to be undone. This class does not
 * talk to the controller.
 */
export class UnitState {
  readonly #options: UnitStateOptions;

  /** The wanted state. The mode is undefined until the first contact. */
  #mode: Mode | undefined;
  readonly #excitation: WantedExcitation;
  readonly latch = new WantedLatch();
  readonly gains: WantedGains;
  readonly driver: Driver;

  /** The observed state. `supervise` sets the members without `#`. */
  online = false;
  /** The controller's identity. Undefined until a controller of the right kind has answered. */
  identity: Identity | undefined;
  /**
   * Undefined until it is read after the daemon has adopted the controller. Meaningful only while the controller has
   * the flag `build`.
   */
  build: Build | undefined;
  /** Why the unit is offline. */
  problem: RobotError | undefined;
  /** The latest readings. Undefined while offline. */
  telemetry: TimedReadings | undefined;
  #status: ControllerStatus | undefined;
  #shownExcitation: Excitation | undefined;
  /** The guard that was last read from the controller. Undefined while a frame in flight may change it. */
  #shownGuard: number | undefined;
  readonly modeFrames = new UnsettledFrames();
  readonly excitationFrames = new UnsettledFrames();

  constructor(options: UnitStateOptions) {
    this.#options = options;
    this.#excitation = new WantedExcitation(options.emit);
    this.gains = new WantedGains(options);
    this.driver = new Driver(options);
  }

  /** What the controller showed last. Undefined until the first contact. */
  get status(): ControllerStatus | undefined {
    return this.#status;
  }

  /** The mode that the controller shows. */
  get mode(): Mode | null {
    return this.#status?.mode ?? null;
  }

  get wantedMode(): Mode | undefined {
    return this.#mode;
  }

  /** The excitation in the controller's register. It is in force in debug mode only. */
  get excitation(): Excitation | undefined {
    return this.#shownExcitation;
  }

  /** Whether the saved gains are the active ones. */
  get savedGainsRun(): boolean {
    return this.gains.areActive(this.gains.saved, this.#status?.activeChecksum);
  }

  /**
   * Whether the active gains are the wanted ones. False while the journal cannot be read, because the wanted gains
   * are then unknown.
   */
  get wantedGainsRun(): boolean {
    return this.gains.areActive(this.gains.wanted, this.#status?.activeChecksum);
  }

  get hasTorque(): boolean {
    return this.#status?.flags.includes('torque') === true;
  }

  /** Whether the controller's guard has ended the last excitation. */
  get ranAway(): boolean {
    return this.#status?.faults.includes('ran_away') === true;
  }

  /** Takes in the status that the controller shows. */
  saw(status: ControllerStatus): void {
    const before = this.#status;
    if (before !== undefined && before.bootId !== status.bootId) this.#wasReset();
    this.#status = status;
    const nowMs = this.#options.clock.nowMs();
    const { mode } = status;
    if (this.#mode === undefined) this.#mode = mode;
    else if (this.modeFrames.judge(mode === this.#mode, nowMs) === 'its own doing') this.#wantMode(mode);
    this.latch.saw(status.flags.includes('stopped'), nowMs);
    if (!this.hasTorque) this.endExcitation(status.flags.includes('stopped') ? 'stop' : 'no torque');
    if (mode !== before?.mode)
      this.#options.emit({ what: 'mode', detail: { before: before?.mode ?? null, after: mode } });
    this.#compareFaults(before, status);
  }

  /**
   * Takes in readings. Ends the trial if a loop runs away from its setpoint, even if the loop is not excited.
   * A loop that was beyond its bound when the trial began is ignored until it has been within its bound.
   * Example: in debug mode a visual loop does nothing, so its measured value may stay far from its setpoint.
   */
  sawReadings(readings: Readings): void {
    const before = this.#loopsPastBound;
    this.telemetry = { ...readings, atMs: this.#options.clock.nowMs() };
    const isNew = this.#loopsPastBound.some(loop => !before.includes(loop));
    if (isNew && this.gains.trial !== undefined) this.gains.endTrial('runaway');
  }

  /** The loops whose measured value is further from the setpoint than their bound. */
  get #loopsPastBound(): readonly Loop[] {
    return this.#options.unit.loops.filter(({ name, runaway }) => {
      const { setpoint = 0, measured = 0 } = this.telemetry?.loops[name] ?? {};
      return Math.abs(setpoint - measured) > runaway;
    });
  }

  /** Takes in the controller's excitation. */
  sawExcitation(shown: GuardedExcitation): void {
    this.#show(shown);
    if (this.mode !== 'debug' || this.#mode !== 'debug') return;
    const agrees = this.#excitation.is(shown);
    if (this.excitationFrames.judge(agrees, this.#options.clock.nowMs()) === 'its own doing')
      this.#excitation.want(this.#shownExcitation);
  }

  /** Call this before a frame that may change the guard. */
  forgetGuard(): void {
    this.#shownGuard = undefined;
  }

  /**
   * Call this when the controller has confirmed a caller's mode switch. `excitation` is what the controller shows in
   * the new mode.
   */
  confirmedMode(mode: Mode, excitation: GuardedExcitation | undefined): void {
    if (excitation !== undefined) this.#show(excitation);
    this.modeFrames.judge(true, this.#options.clock.nowMs());
    // The unit was in debug mode already. Its excitation may be left from a refused request, so it is not
    // adopted.
    if (mode === 'debug' && this.#mode === 'debug') return;
    this.#wantMode(mode, mode === 'debug' && excitation ? this.#shownExcitation : undefined);
  }

  /** Call this when the controller has confirmed a caller's excitation. Returns that excitation. */
  confirmedExcitation(shown: GuardedExcitation, runaway?: number): Excitation {
    const excitation = this.#show(shown);
    this.#excitation.want(excitation, runaway);
    return excitation;
  }

  /**
   * From now on no excitation is wanted. The controller still shows the old excitation until it has ended it. The daemon
   * must not adopt that excitation as the controller's own choice.
   */
  endExcitation(why?: ExcitationEnd): void {
    this.#excitation.end(why);
    this.excitationFrames.disturb();
  }

  wantsExcitation(excitation: Excitation): boolean {
    return this.#excitation.is(excitation);
  }

  /**
   * In a trial, adds the guard: `runaway`, or else the loop's own bound. Saved gains run without a guard,
   * because a caller chose them deliberately.
   */
  guarded(
    excitation: Excitation,
    runaway: number | undefined,
    isTrial = this.gains.trial !== undefined,
  ): GuardedExcitation {
    const loop = this.#options.unit.loops.find(({ name }) => name === excitation.loop);
    const isGuarded =
      isTrial && excitation.amplitude !== 0 && this.#status?.flags.includes('guarded_excitation');
    return { ...excitation, deviation: isGuarded ? (runaway ?? loop?.runaway ?? 0) : 0 };
  }

  /** From now on the latch is wanted. A resume under way ends. */
  wantStop(): void {
    this.latch.want();
    this.endExcitation('stop');
    this.gains.endTrial('stop');
    this.driver.end('stop');
  }

  /** The controller is unreachable. It may lose its torque before it returns, so nothing that moved begins again. */
  lost(problem: RobotError): void {
    const wasOnline = this.online;
    this.online = false;
    this.problem = problem;
    this.telemetry = undefined;
    if (!wasOnline) return;
    this.endExcitation('offline');
    this.gains.endTrial('offline');
    this.driver.end('offline');
  }

  /**
   * Call this when the resume was answered 200. A controller that has not confirmed its release is released when it
   * goes online.
   */
  released(confirmed: boolean): void {
    this.latch.released(confirmed);
    this.#wantMode('manual');
    // A controller that missed the resume shows its old mode. That mode is not its own choice, even if a stop
    // follows.
    if (!confirmed) this.modeFrames.disturb();
  }

  /**
   * The wanted mode, gains and excitation that the controller does not show yet. A value that it shows is undefined. If it
   * shows all of them, the result is undefined. The latch is not included, because the reconciler corrects it first.
   */
  get difference() {
    if (this.#status === undefined || this.#mode === undefined) return undefined;
    const gains = this.wantedGainsRun ? undefined : this.gains.wanted;
    // The mode is not corrected before a release, because the release puts the controller into manual.
    const mode = this.latch.isReleasing || this.mode === this.#mode ? undefined : this.#mode;
    const excitation = this.dueExcitation(this.gains.trial !== undefined);
    if (mode === undefined && gains === undefined && excitation === undefined) return undefined;
    return { mode, gains, excitation };
  }

  /** The excitation to write. Undefined if the controller shows it. `isTrial`: a trial runs or is about to begin. */
  dueExcitation(isTrial: boolean): GuardedExcitation | undefined {
    const shown = this.#shownExcitation;
    const wanted = this.#excitation.current;
    if (this.#mode !== 'debug' || this.mode !== 'debug' || shown === undefined) return undefined;
    const due = this.guarded(wanted ?? { ...shown, amplitude: 0 }, this.#excitation.runaway, isTrial);
    const isGuarded = due.amplitude === 0 || Math.fround(due.deviation) === this.#shownGuard;
    return this.#excitation.is(shown) && isGuarded ? undefined : due;
  }

  /**
   * Returns a check that throws if the controller has been reset since this call. A reset loses everything that the
   * controller confirmed.
   */
  sameBoot(): () => void {
    const bootId = this.#status?.bootId;
    return () => {
      if (this.#status?.bootId === bootId) return;
      throw new RobotError('not-confirmed', { unit: this.#options.unit.name, register: 'boot_id' });
    };
  }

  /**
   * Like `sameBoot`. The check also throws if the wanted excitation has changed since this call: the guard may have
   * ended it.
   */
  sameExcitation(): () => void {
    const sameBoot = this.sameBoot();
    const excitation = this.#excitation.current;
    return () => {
      sameBoot();
      if (this.#excitation.current === excitation) return;
      throw new RobotError('not-confirmed', { unit: this.#options.unit.name, register: 'excitation' });
    };
  }

  #show({ deviation, ...excitation }: GuardedExcitation): Excitation {
    this.#shownExcitation = excitation;
    this.#shownGuard = deviation;
    return excitation;
  }

  #compareFaults(before: ControllerStatus | undefined, after: ControllerStatus): void {
    const old = before?.faults ?? [];
    const appeared = after.faults.filter(fault => !old.includes(fault));
    const gone = old.filter(fault => !after.faults.includes(fault));
    for (const fault of appeared) this.#options.emit({ what: 'fault', detail: { fault } });
    for (const fault of gone) this.#options.emit({ what: 'fault-gone', detail: { fault } });
    if (appeared.includes('ran_away')) {
      // The controller's guard has ended the excitation. No excitation is wanted then, so that no frame
      // starts it again. The shown amplitude is set to 0, because otherwise a frame with amplitude 0 would be
      // written, and would clear `ran_away`.
      this.#excitation.end('runaway');
      if (this.#shownExcitation !== undefined)
        this.#shownExcitation = { ...this.#shownExcitation, amplitude: 0 };
      this.gains.endTrial('runaway');
    }
    if (appeared.some(fault => !HARMLESS.includes(fault))) this.gains.endTrial('fault');
    const isLost = before?.flags.includes('target_visible') && !after.flags.includes('target_visible');
    if (isLost && this.#followsTarget(after.mode)) this.gains.endTrial('target lost');
  }

  /** In debug mode a visual loop follows the target only while it is excited. */
  #followsTarget(mode: Mode): boolean {
    const excited = this.#options.unit.loops.find(({ name }) => name === this.#excitation.current?.loop);
    return mode !== 'debug' || (excited !== undefined && isVisual(excited));
  }

  #wantMode(mode: Mode, excitation?: Excitation): void {
    if (this.#mode !== undefined && this.#mode !== mode) this.gains.endTrial('mode change');
    this.driver.end('mode change');
    this.#mode = mode;
    this.#excitation.want(excitation);
  }

  /**
   * Frames in flight may have reached the controller after its reset, so earlier frames count as unsettled
   * again.
   */
  #wasReset(): void {
    if (this.#mode !== undefined && (this.latch.isWanted || !this.#options.restores(this.#mode)))
      this.#mode = 'manual';
    this.endExcitation('reset');
    this.#shownExcitation = undefined;
    this.modeFrames.disturb();
    this.gains.endTrial('reset');
    this.driver.end('reset');
    this.#options.emit({ what: 'reset' });
  }
}
