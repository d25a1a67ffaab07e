import type { Clock } from '../core/clock.js';
import { RobotError } from '../core/errors.js';
import type { Torque } from '../core/status.js';
import type { Excitation, GainSet, Mode, Unit } from '../core/units.js';
import type { GainsStore } from '../gains/gains-store.js';
import { bitNames } from '../protocol/codec.js';
import type { Link } from '../protocol/link.js';
import { FAULTS, FLAGS } from '../protocol/registers.js';
import { HostSilence, type SilenceLimits } from './host-silence.js';
import { MotorController, type StatusFrame } from './motor-controller.js';
import type { Act, Permission } from './permission.js';
import { Reconciler } from './reconciler.js';
import { RequestGate, type StillWanted } from './request-gate.js';
import type { UnitEvent } from './robot-event.js';
import type { StepCapture } from './step-reader.js';
import type { Trial } from './trial.js';
import { Turns } from './turns.js';
import { UnitGains } from './unit-gains.js';
import type { UnitReport } from './unit-report.js';
import { UnitState } from './unit-state.js';
import { UnitSupervision } from './unit-supervision.js';

/** The caller of a failed save waits so long for the saved gains to be back in the controller; later polls go on trying. */
const BRING_BACK_MS = 100;
/** One try to latch while a stop waits, and the pause before the next. */
const LATCH_MS = 200;
const LATCH_AGAIN_MS = 10;
/** Between two looks for a controller when the daemon starts. */
const FIND_AGAIN_MS = 20;

interface UnitOptions {
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

const always: StillWanted = () => undefined;

/**
 * One unit as callers ask of it. What resolves has been confirmed by the controller. What rejects has changed nothing of
 * what is wanted, so the next poll takes back what a refused request may have left in the controller.
 */
export class MotorUnit {
  readonly unit: Unit;
  readonly gains: UnitGains;
  readonly #clock: Clock;
  readonly #silence: HostSilence;
  readonly #state: UnitState;
  readonly #controller: MotorController;
  readonly #gate: RequestGate;
  readonly #reconciler: Reconciler;
  readonly #supervision: UnitSupervision;

  constructor(options: UnitOptions) {
    const { unit, link, clock, store, permission, emit } = options;
    this.unit = unit;
    this.#clock = clock;
    const silence = new HostSilence({ link, address: unit.address, clock, limits: options.silence });
    const state = new UnitState({
      unit,
      clock,
      saved: () => savedGains(store, unit),
      restores: mode =>
        options.onControllerReset === 'restore' &&
        isAllowed(permission, { kind: 'mode', unit: unit.name, mode }),
      emit,
    });
    const onStatus = (status: StatusFrame) => {
      state.saw(status);
      if (state.latchHolds) silence.latchSeen();
    };
    const controller = new MotorController({ unit, link, clock, onStatus });
    const turns = new Turns(clock, unit.name);
    const { foundLatched, stepCaptured } = options;
    const reconciler = new Reconciler({ state, controller, turns, emit, foundLatched });
    const parts = {
      unit,
      link,
      clock,
      store,
      permission,
      state,
      controller,
      turns,
      reconciler,
      silence,
      emit,
    };
    const supervision = new UnitSupervision({ ...parts, stepCaptured });
    const gate = new RequestGate({ ...parts, supervision });
    this.gains = new UnitGains({ ...parts, gate, settle: () => this.settle() });
    this.#silence = silence;
    this.#state = state;
    this.#controller = controller;
    this.#gate = gate;
    this.#reconciler = reconciler;
    this.#supervision = supervision;
  }

  get state(): UnitReport {
    const { online, identity, problem } = this.#supervision;
    const { mode, gains } = this.#state;
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
      trial: gains.trial,
      problem,
    };
  }

  /** As in `state`, for those who look at every poll. */
  get mode(): Mode | null {
    return this.#state.mode;
  }

  /** As `mode`. */
  get trial(): Trial | undefined {
    return this.#state.gains.trial;
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
    return this.#gate.request({ kind: 'mode', unit: this.unit.name, mode }, stillWanted, async untilMs => {
      const sameBoot = this.#state.sameBoot();
      const settle = await this.#reconciler.setMode(mode, untilMs, sameBoot);
      const wave =
        mode === 'debug' ? await this.#controller.excitation({ priority: 'mode', untilMs }) : undefined;
      sameBoot();
      this.#state.confirmedMode(mode, wave);
      settle();
    });
  }

  /** As it was last seen; polls look at it in debug mode. */
  excitation(): Excitation {
    this.#gate.requireOnline();
    const { wave } = this.#state;
    if (wave === undefined) throw new RobotError('unit-busy', { unit: this.unit.name });
    return wave;
  }

  /** `runaway` is the deviation that the controller's guard bears during a trial; the loop's own unless it is given. */
  excite(excitation: Excitation, stillWanted = always, runaway?: number): Promise<Excitation> {
    return this.#gate.request({ kind: 'excite', unit: this.unit.name }, stillWanted, async untilMs => {
      this.#requireDebug();
      const sameBoot = this.#state.sameBoot();
      const guard = this.#state.guardOf(excitation, runaway);
      // The deviation of one loop is none for another.
      if (this.#state.lacksGuard(guard)) await this.#reconciler.guard(0, untilMs);
      await this.#reconciler.excite(excitation, untilMs, sameBoot);
      await this.#reconciler.guard(guard, untilMs);
      const wave = await this.#controller.excitation({ priority: 'mode', untilMs });
      // A controller that was reset just now takes a wave too, and forgets it on its way back into debug.
      await this.#controller.status({ priority: 'mode', untilMs });
      sameBoot();
      this.#requireDebug();
      this.#state.confirmedWave(wave, runaway);
      return wave;
    });
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
    return this.#gate.inTurn(stillWanted, async untilMs => {
      await this.#reconciler.setMode('manual', untilMs, stillWanted);
    });
  }

  unlatch(stillWanted: StillWanted): Promise<void> {
    return this.#gate.inTurn(stillWanted, untilMs => this.#reconciler.unlatch(untilMs, stillWanted));
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

  #requireDebug(): void {
    const { mode, wantedMode } = this.#state;
    if (wantedMode !== 'debug') throw new RobotError('wrong-mode', { unit: this.unit.name, mode });
  }
}

function isAllowed(permission: Permission, act: Act): boolean {
  try {
    permission.require(act);
    return true;
  } catch {
    return false;
  }
}

/** Undefined while the journal cannot be read. */
function savedGains(store: GainsStore, unit: Unit): GainSet | undefined {
  try {
    return store.current(unit.name).gains;
  } catch {
    return undefined;
  }
}
