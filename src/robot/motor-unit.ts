import type { Clock } from '../core/clock.js';
import { type GainsDifference, RobotError } from '../core/errors.js';
import type { Torque } from '../core/status.js';
import type { Excitation, GainSet, Mode, Unit } from '../core/units.js';
import type { GainsStore, SavedGains } from '../gains/gains-store.js';
import { bitNames } from '../protocol/codec.js';
import type { Link } from '../protocol/link.js';
import { FAULTS, FLAGS } from '../protocol/registers.js';
import { HostSilence, type SilenceLimits } from './host-silence.js';
import { MotorController, type StepCapture } from './motor-controller.js';
import type { Act, Permission } from './permission.js';
import { Reconciler } from './reconciler.js';
import type { TrialEnd, UnitEvent } from './robot-event.js';
import type { Trial } from './trial.js';
import { Turns } from './turns.js';
import type { UnitReport } from './unit-report.js';
import { UnitState } from './unit-state.js';
import { UnitSupervision } from './unit-supervision.js';

/** From a request's arrival until the bus has done its part of it; a caller hears within a second. */
const REQUEST_MS = 350;
/** For bringing the journal's gains back before the caller of a failed save is answered; later polls go on trying. */
const BRING_BACK_MS = 100;
/** One try to latch while a stop waits, and the pause before the next. */
const LATCH_MS = 200;
const LATCH_AGAIN_MS = 10;
/** Between two looks for a controller when the daemon starts. */
const FIND_AGAIN_MS = 20;

export interface UnitOptions {
  readonly unit: Unit;
  readonly link: Link;
  readonly clock: Clock;
  readonly store: GainsStore;
  readonly permission: Permission;
  readonly silence: SilenceLimits;
  /** The mode of a controller that reset itself while we ran. */
  readonly onControllerReset: 'manual' | 'restore';
  readonly emit: (event: UnitEvent) => void;
  /** The controller is latched although nobody here asked for it. */
  readonly foundLatched: () => void;
  readonly stepCaptured: (capture: StepCapture) => void;
}

/** Throws when what was asked is not wanted any more, such as `caller-gone`. */
export type StillWanted = () => void;

const always: StillWanted = () => undefined;

/**
 * One unit as callers ask of it. What resolves has been confirmed by the controller. What rejects has changed nothing of
 * what is wanted, so the next poll takes back what a refused request may have left in the controller.
 */
export class MotorUnit {
  readonly unit: Unit;
  readonly #clock: Clock;
  readonly #store: GainsStore;
  readonly #permission: Permission;
  readonly #emit: (event: UnitEvent) => void;
  readonly #silence: HostSilence;
  readonly #state: UnitState;
  readonly #controller: MotorController;
  readonly #turns: Turns;
  readonly #reconciler: Reconciler;
  readonly #supervision: UnitSupervision;

  constructor(options: UnitOptions) {
    const { unit, link, clock, store, permission, emit } = options;
    this.unit = unit;
    this.#clock = clock;
    this.#store = store;
    this.#permission = permission;
    this.#emit = emit;
    this.#silence = new HostSilence({ link, address: unit.address, clock, limits: options.silence });
    const state = new UnitState({
      unit,
      clock,
      saved: () => this.#savedGains(),
      restores: mode =>
        options.onControllerReset === 'restore' && this.#isAllowed({ kind: 'mode', unit: unit.name, mode }),
      emit,
    });
    const onStatus = (status: Parameters<UnitState['saw']>[0]) => {
      state.saw(status);
      if (state.latchHolds) this.#silence.latchSeen();
    };
    const controller = new MotorController({ unit, link, clock, onStatus });
    const turns = new Turns(clock, unit.name);
    const reconciler = new Reconciler({ state, controller, turns, emit, foundLatched: options.foundLatched });
    const { stepCaptured } = options;
    const silence = this.#silence;
    this.#state = state;
    this.#controller = controller;
    this.#turns = turns;
    this.#reconciler = reconciler;
    this.#supervision = new UnitSupervision({
      state,
      controller,
      reconciler,
      silence,
      clock,
      emit,
      stepCaptured,
    });
  }

  get state(): UnitReport {
    const { online, identity, problem } = this.#supervision;
    const { mode, trial } = this.#state;
    const status = online ? this.#state.status : undefined;
    return {
      online,
      mode,
      faults: bitNames(FAULTS, status?.faults ?? 0),
      flags: bitNames(FLAGS, status?.flags ?? 0),
      torque: this.#torque,
      excitation: (online && mode === 'debug' && this.#state.wave) || null,
      identity,
      applied: online && this.#state.savedGainsRun,
      trial,
      problem,
    };
  }

  get telemetry(): Readonly<Record<string, number>> | undefined {
    return this.#supervision.telemetry;
  }

  tick(): Promise<void> {
    return this.#supervision.tick();
  }

  /** Looks for the controller until it is online, or `untilMs`: a first try may fail for noise on the bus. */
  async find(untilMs: number): Promise<void> {
    for (;;) {
      await this.tick();
      if (this.#supervision.online || this.#clock.nowMs() + FIND_AGAIN_MS > untilMs) return;
      await new Promise<void>(resolve => this.#clock.after(FIND_AGAIN_MS, resolve));
      this.#supervision.lookSoon();
    }
  }

  /** Mends at once what refused requests may have left in the controller, as far as it can be reached. Never rejects. */
  async settle(): Promise<void> {
    if (!this.#supervision.online) return;
    const untilMs = this.#clock.nowMs() + BRING_BACK_MS;
    try {
      await this.#controller.status({ priority: 'gains', untilMs });
      await this.#reconciler.mend(untilMs);
    } catch {
      // Polls go on trying.
    }
  }

  setMode(mode: Mode, stillWanted = always): Promise<void> {
    return this.#request({ kind: 'mode', unit: this.unit.name, mode }, stillWanted, async untilMs => {
      const sameBoot = this.#state.sameBoot();
      await this.#reconciler.setMode(mode, untilMs, sameBoot);
      const wave =
        mode === 'debug' ? await this.#controller.excitation({ priority: 'mode', untilMs }) : undefined;
      sameBoot();
      this.#state.confirmedMode(mode, wave);
    });
  }

  /** As it was last seen; polls look at it in debug mode. */
  excitation(): Excitation {
    this.#requireOnline();
    const { wave } = this.#state;
    if (wave === undefined) throw new RobotError('unit-busy', { unit: this.unit.name });
    return wave;
  }

  excite(excitation: Excitation, stillWanted = always): Promise<Excitation> {
    return this.#request({ kind: 'excite', unit: this.unit.name }, stillWanted, async untilMs => {
      this.#requireDebug();
      const sameBoot = this.#state.sameBoot();
      await this.#reconciler.excite(excitation, untilMs, sameBoot);
      const wave = await this.#controller.excitation({ priority: 'mode', untilMs });
      sameBoot();
      this.#requireDebug();
      this.#state.confirmedWave(wave);
      return wave;
    });
  }

  /**
   * Resolves when the gains are active in the controller and on the disk. The next save may stage meanwhile. With
   * `baseRevision`, another revision in force is refused with `changed-meanwhile`.
   */
  async save(
    gains: GainSet,
    options: { baseRevision?: number | undefined; stillWanted?: StillWanted } = {},
  ): Promise<SavedGains> {
    const { baseRevision, stillWanted = always } = options;
    const { name } = this.unit;
    const before = this.#store.current(name);
    let endSave: () => void = () => undefined;
    try {
      await this.#request({ kind: 'save', unit: name }, stillWanted, async untilMs => {
        this.#requireRevision(baseRevision, gains);
        await this.#reconciler.applyGains(gains, untilMs);
        endSave = this.#state.beginSave(gains);
      });
      const after = await this.#store.save(name, gains);
      endSave();
      this.#emit({ what: 'gains', before, after });
      return after;
    } catch (error) {
      endSave();
      await this.settle();
      throw error;
    }
  }

  /** Runs gains without saving them, until the trial ends or another one of the same id takes its place. */
  async tryGains(trial: Trial, stillWanted = always): Promise<void> {
    try {
      await this.#request({ kind: 'trial', unit: this.unit.name }, stillWanted, async untilMs => {
        const running = this.#state.trial;
        if (running !== undefined && running.id !== trial.id) {
          throw new RobotError('trial-running', { unit: this.unit.name, by: running.by });
        }
        await this.#reconciler.applyGains(trial.gains, untilMs);
        this.#state.beginTrial(trial);
      });
    } catch (error) {
      await this.settle();
      throw error;
    }
  }

  /** Resolves when the saved gains run again, as far as that could be had in time. */
  async endTrial(why: TrialEnd): Promise<void> {
    this.#state.endTrial(why);
    await this.settle();
  }

  /** From now on the controller has to be latched. `confirmStop` makes it so. */
  stop(): void {
    this.#state.wantStop();
    this.#supervision.lookSoon();
  }

  /**
   * Resolves when the controller has confirmed its latch, or cannot have torque any more by its own silence rule. Goes
   * past everything that waits for this unit. Rejects at `untilMs`.
   */
  async confirmStop(untilMs: number): Promise<void> {
    let cause: unknown;
    while (!this.#cannotPush) {
      const nowMs = this.#clock.nowMs();
      if (nowMs >= untilMs)
        throw new RobotError('not-confirmed', { unit: this.unit.name, register: 'stop' }, { cause });
      try {
        // Nothing is written to what has never said that it is our controller.
        if (this.#supervision.identity !== undefined) {
          await this.#reconciler.latch(Math.min(untilMs, nowMs + LATCH_MS));
          return;
        }
      } catch (error) {
        cause = error;
      }
      await new Promise<void>(resolve => this.#clock.after(LATCH_AGAIN_MS, resolve));
    }
  }

  beginRelease(): void {
    this.#state.beginRelease();
  }

  endRelease(): void {
    this.#state.endRelease();
  }

  /** Into manual, so that nothing moves by itself when torque comes back. */
  enterManual(stillWanted: StillWanted): Promise<void> {
    return this.#inTurn(stillWanted, untilMs => this.#reconciler.setMode('manual', untilMs, stillWanted));
  }

  unlatch(stillWanted: StillWanted): Promise<void> {
    return this.#inTurn(stillWanted, untilMs => this.#reconciler.unlatch(untilMs, stillWanted));
  }

  /** The resume holds: `confirmed` where this controller has heard of it. */
  released(confirmed: boolean): void {
    this.#state.released(confirmed);
  }

  get #torque(): Torque {
    if (this.#supervision.online && this.#state.status !== undefined) {
      return bitNames(FLAGS, this.#state.status.flags).includes('torque') ? 'on' : 'off';
    }
    if (this.#state.latchHolds) return 'off';
    return this.#silence.hasPassed ? 'silent' : 'unknown';
  }

  /** A latch seen before counts only for a controller that nobody reaches: of one that is reached, it is asked again. */
  get #cannotPush(): boolean {
    return this.#silence.hasPassed || (!this.#supervision.online && this.#state.latchHolds);
  }

  #request<T>(act: Act, stillWanted: StillWanted, perform: (untilMs: number) => Promise<T>): Promise<T> {
    return this.#inTurn(() => {
      stillWanted();
      this.#permission.require(act);
      if (act.kind === 'save') return;
      if (this.#state.stopWanted) throw new RobotError('stopped');
      if (this.#state.releasing) throw new RobotError('unit-busy', { unit: this.unit.name });
    }, perform);
  }

  /** One request at a time talks to the controller. What was allowed when it came may not be when its turn comes. */
  async #inTurn<T>(requireAllowed: () => void, perform: (untilMs: number) => Promise<T>): Promise<T> {
    requireAllowed();
    this.#requireOnline();
    const untilMs = this.#clock.nowMs() + REQUEST_MS;
    return this.#turns.take(untilMs, () => {
      requireAllowed();
      return perform(untilMs);
    });
  }

  #requireOnline(): void {
    const { online, problem } = this.#supervision;
    if (!online) throw new RobotError('unit-offline', { unit: this.unit.name }, { cause: problem });
  }

  #requireDebug(): void {
    const { mode, wantedMode } = this.#state;
    if (wantedMode !== 'debug') throw new RobotError('wrong-mode', { unit: this.unit.name, mode });
  }

  /** A save that the disk has not confirmed may become the revision in force, so it counts as a change. */
  #requireRevision(baseRevision: number | undefined, sent: GainSet): void {
    if (baseRevision === undefined) return;
    const { name: unit } = this.unit;
    const { revision, gains } = this.#store.current(unit);
    if (revision === baseRevision && !this.#state.savesPending) return;
    throw new RobotError('changed-meanwhile', { unit, revision, difference: differenceOf(sent, gains) });
  }

  #isAllowed(act: Act): boolean {
    try {
      this.#permission.require(act);
      return true;
    } catch {
      return false;
    }
  }

  #savedGains(): GainSet | undefined {
    try {
      return this.#store.current(this.unit.name).gains;
    } catch {
      return undefined;
    }
  }
}

/** The loops whose gains are not alike. */
function differenceOf(sent: GainSet, saved: GainSet): Record<string, GainsDifference> {
  const difference: Record<string, GainsDifference> = {};
  for (const [loop, inForce] of Object.entries(saved)) {
    const own = sent[loop];
    if (own === undefined || (['kp', 'ki', 'kd'] as const).every(gain => own[gain] === inForce[gain]))
      continue;
    difference[loop] = { sent: own, inForce };
  }
  return difference;
}
