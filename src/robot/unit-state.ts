import type { Clock } from '../core/clock.js';
import { RobotError } from '../core/errors.js';
import type { Excitation, GainSet, Mode, Unit } from '../core/units.js';
import type { UnitEvent } from './robot-event.js';
import { faultsOf, hasFlag, modeOf, type StatusFrame } from './status-frame.js';
import { UnsettledFrames } from './unsettled-frames.js';
import { WantedGains } from './wanted-gains.js';
import { WantedLatch } from './wanted-latch.js';
import { WantedWave } from './wanted-wave.js';

/** Faults that report a frame damaged on the bus. Nothing is wrong with the motors then. */
const HARMLESS: readonly string[] = ['frame_refused', 'commit_refused'];

/** What the controller should show where it shows something else; undefined where it is right. */
interface Difference {
  readonly mode: Mode | undefined;
  readonly gains: GainSet | undefined;
  readonly wave: Excitation | undefined;
  /** The largest deviation that the excited loop may have; 0 is no guard. */
  readonly guard: number | undefined;
}

/**
 * What is wanted of one unit and what was last observed of it. Wanted is what somebody was last answered 200 for, or
 * what the controller did of its own accord; a refused request never changes it. Nothing remembers how to undo
 * something, because that follows from the difference. This class does not talk to the controller.
 */
export class UnitState {
  readonly #unit: Unit;
  readonly #clock: Clock;
  /** Whether a controller that reset itself gets this mode back; otherwise it is put into manual. */
  readonly #restores: (mode: Mode) => boolean;
  readonly #emit: (event: UnitEvent) => void;

  /** What is wanted. The mode is undefined until the controller was heard from. */
  #mode: Mode | undefined;
  readonly #wave: WantedWave;
  readonly latch = new WantedLatch();
  readonly gains: WantedGains;

  /** What was observed. */
  #status: StatusFrame | undefined;
  #shownWave: Excitation | undefined;
  /** The deviation that the guard was given since the controller started; undefined where that is not known. */
  #givenGuard: number | undefined;
  readonly modeFrames = new UnsettledFrames();
  readonly waveFrames = new UnsettledFrames();

  constructor(options: {
    unit: Unit;
    clock: Clock;
    saved: () => GainSet | undefined;
    restores: (mode: Mode) => boolean;
    emit: (event: UnitEvent) => void;
  }) {
    this.#unit = options.unit;
    this.#clock = options.clock;
    this.#restores = options.restores;
    this.#emit = options.emit;
    this.#wave = new WantedWave(options.emit);
    this.gains = new WantedGains(options);
  }

  /** What the controller showed last; undefined until it was heard from. */
  get status(): StatusFrame | undefined {
    return this.#status;
  }

  /** The mode that the controller shows. */
  get mode(): Mode | null {
    return this.#status === undefined ? null : modeOf(this.#status);
  }

  get wantedMode(): Mode | undefined {
    return this.#mode;
  }

  /** The wave in the controller's register, which is in force in debug mode only. */
  get wave(): Excitation | undefined {
    return this.#shownWave;
  }

  get wantedWave(): Excitation | undefined {
    return this.#wave.current;
  }

  /** Whether the saved gains are the active ones. */
  get savedGainsRun(): boolean {
    return this.#status !== undefined && this.gains.areSaved(this.#status.active_checksum);
  }

  /**
   * Whether the active gains are the wanted ones. False while the journal cannot be read, for then nobody knows which
   * are wanted.
   */
  get wantedGainsRun(): boolean {
    return this.#status !== undefined && this.gains.areWanted(this.#status.active_checksum);
  }

  /** Whether the controller's guard has ended the last wave. */
  get ranAway(): boolean {
    return faultsOf(this.#status).includes('ran_away');
  }

  /** Takes in the status that the controller shows. */
  saw(status: StatusFrame): void {
    const before = this.#status;
    if (before !== undefined && before.boot_id !== status.boot_id) this.#wasReset();
    this.#status = status;
    const nowMs = this.#clock.nowMs();
    const mode = modeOf(status);
    if (this.#mode === undefined) this.#mode = mode;
    else if (this.modeFrames.judge(mode === this.#mode, nowMs) === 'its own doing') this.#adopt(mode);
    this.latch.saw(hasFlag(status, 'stopped'), nowMs);
    const shownBefore = before === undefined ? null : modeOf(before);
    if (mode !== shownBefore) this.#emit({ what: 'mode', before: shownBefore, after: mode });
    this.#compareFaults(before, status);
  }

  /** Takes in the controller's wave. */
  sawWave(wave: Excitation): void {
    this.#shownWave = wave;
    if (this.mode !== 'debug' || this.#mode !== 'debug') return;
    const agrees = this.#wave.is(wave);
    if (this.waveFrames.judge(agrees, this.#clock.nowMs()) === 'its own doing') this.#wave.want(wave);
  }

  /** The controller confirmed a mode that somebody asked for, with the wave it has in it. */
  confirmedMode(mode: Mode, wave: Excitation | undefined): void {
    if (wave !== undefined) this.#shownWave = wave;
    // The unit was in debug mode already, so the wave that the controller shows may be what a refused request left
    // there.
    if (mode === 'debug' && this.#mode === 'debug') return;
    if (mode !== this.#mode) this.gains.endTrial('mode change');
    this.#mode = mode;
    this.#wave.want(mode === 'debug' ? wave : undefined);
  }

  /** The controller confirmed a wave that somebody asked for. */
  confirmedWave(wave: Excitation, runaway?: number): void {
    this.#shownWave = wave;
    this.#wave.want(wave, runaway);
  }

  /**
   * From now on this wave is not wanted any more; without an argument, none is. The controller shows it until it is
   * taken away, and that must not be adopted as its own choice.
   */
  endWave(wave?: Excitation): void {
    if (wave !== undefined && !this.#wave.is(wave)) return;
    this.#wave.want(undefined);
    this.waveFrames.disturb();
  }

  /**
   * The deviation that the guard has to have for this wave. Only trials have a guard: saved gains are somebody's
   * decision.
   */
  guardOf(wave: Excitation | undefined, runaway: number | undefined): number {
    return this.gains.trial === undefined ? 0 : this.#boundOf(wave, runaway);
  }

  /** The deviation that the guard has to have for the wanted wave while a trial runs. */
  get guardInTrials(): number {
    return this.#boundOf(this.#mode === 'debug' ? this.#wave.current : undefined, this.#wave.runaway);
  }

  /** Whether the controller's firmware has a guard. */
  get hasGuard(): boolean {
    return hasFlag(this.#status, 'guard');
  }

  /** Whether the controller has a guard that was not given this deviation. */
  lacksGuard(deviation: number): boolean {
    return this.#givenGuard !== deviation && this.hasGuard;
  }

  /** The guard was given this deviation; undefined while that is not confirmed. */
  gaveGuard(deviation: number | undefined): void {
    this.#givenGuard = deviation;
  }

  /** From now on the controller has to be latched; a release under way gives up. */
  wantStop(): void {
    this.latch.want();
    this.gains.endTrial('stop');
  }

  /** The resume was answered 200. A controller that has not confirmed it is released when it appears. */
  released(confirmed: boolean): void {
    this.latch.released(confirmed);
    if (this.#mode !== undefined && this.#mode !== 'manual') this.gains.endTrial('mode change');
    this.#mode = 'manual';
    this.#wave.want(undefined);
    // A controller that missed the resume shows its mode of before, which is not its own choice, also when a stop
    // follows.
    if (!confirmed) this.modeFrames.disturb();
  }

  /** What has to be mended beside the latch, which comes before all of it; undefined where nothing differs. */
  get difference(): Difference | undefined {
    const status = this.#status;
    if (status === undefined || this.#mode === undefined) return undefined;
    const gains = this.gains.missing(status.active_checksum);
    const shown = this.#shownWave;
    const isDebug = this.#mode === 'debug' && this.mode === 'debug';
    // The release itself puts the controller into manual first, so the mode is left alone meanwhile.
    const mode = this.latch.isReleasing || this.mode === this.#mode ? undefined : this.#mode;
    const wrongWave = isDebug && shown !== undefined && !this.#wave.is(shown);
    const guard = this.gains.trial === undefined ? 0 : this.guardInTrials;
    const wrongGuard = isDebug && this.lacksGuard(guard);
    if (mode === undefined && gains === undefined && !wrongWave && !wrongGuard) return undefined;
    return {
      mode,
      gains,
      guard: wrongGuard ? guard : undefined,
      wave: wrongWave ? (this.#wave.current ?? { ...shown, amplitude: 0 }) : undefined,
    };
  }

  /** Returns a check that throws when the controller has been reset since now, for then what it confirmed is lost. */
  sameBoot(): () => void {
    const bootId = this.#status?.boot_id;
    return () => {
      if (this.#status?.boot_id === bootId) return;
      throw new RobotError('not-confirmed', { unit: this.#unit.name, register: 'boot_id' });
    };
  }

  /** The same, and the check throws also when another wave is wanted than now: the guard may have ended this one. */
  sameWave(): () => void {
    const sameBoot = this.sameBoot();
    const wave = this.#wave.current;
    return () => {
      sameBoot();
      if (this.#wave.current === wave) return;
      throw new RobotError('not-confirmed', { unit: this.#unit.name, register: 'excitation' });
    };
  }

  /**
   * The largest deviation for this wave: what was asked for with it, or else its loop's own bound; 0, no guard, where
   * nothing moves.
   */
  #boundOf(wave: Excitation | undefined, runaway: number | undefined): number {
    if (wave === undefined || wave.amplitude === 0) return 0;
    return runaway ?? this.#unit.loops.find(({ name }) => name === wave.loop)?.runaway ?? 0;
  }

  #compareFaults(before: StatusFrame | undefined, after: StatusFrame): void {
    const [old, now] = [faultsOf(before), faultsOf(after)];
    const appeared = now.filter(fault => !old.includes(fault));
    const gone = old.filter(fault => !now.includes(fault));
    if (appeared.length > 0 || gone.length > 0) this.#emit({ what: 'faults', appeared, gone });
    if (appeared.includes('ran_away')) {
      // The controller's guard has ended the wave. No frame that is under way may bring it back, so none is wanted. It
      // counts as seen without amplitude, so that nobody writes that: such a frame would clear `ran_away`.
      this.#wave.want(undefined);
      if (this.#shownWave !== undefined) this.#shownWave = { ...this.#shownWave, amplitude: 0 };
      this.gains.endTrial('runaway');
    }
    if (appeared.some(fault => !HARMLESS.includes(fault))) this.gains.endTrial('fault');
    if (hasFlag(before, 'target_visible') && !hasFlag(after, 'target_visible'))
      this.gains.endTrial('target lost');
  }

  #adopt(mode: Mode): void {
    this.#mode = mode;
    this.#wave.want(undefined);
    this.gains.endTrial('mode change');
  }

  /** Frames of a request under way may have reached the controller after its reset, so no frame counts as settled. */
  #wasReset(): void {
    if (this.#mode !== undefined && (this.latch.isWanted || !this.#restores(this.#mode)))
      this.#mode = 'manual';
    this.#wave.want(undefined);
    this.#shownWave = undefined;
    this.#givenGuard = undefined;
    for (const frames of [this.modeFrames, this.waveFrames]) frames.disturb();
    this.gains.endTrial('reset');
    this.#emit({ what: 'reset' });
  }
}
