import type { Clock } from '../core/clock.js';
import { RobotError } from '../core/errors.js';
import type { Excitation, Mode, Unit } from '../core/units.js';
import type { GainsStore } from '../gains/gains-store.js';
import type { Link } from '../protocol/link.js';
import { HostSilence, type SilenceLimits } from './host-silence.js';
import { MotorController } from './motor-controller.js';
import type { Act, Permission } from './permission.js';
import { Reconciler } from './reconciler.js';
import { RequestGate } from './request-gate.js';
import type { UnitEvent } from './robot-event.js';
import { faultsOf, flagsOf, type StatusFrame } from './status-frame.js';
import type { StepCapture } from './step-reader.js';
import type { Trial } from './trial.js';
import { Turns } from './turns.js';
import { UnitGains } from './unit-gains.js';
import { UnitState } from './unit-state.js';
import { UnitStop } from './unit-stop.js';
import { UnitSupervision } from './unit-supervision.js';

/** The caller of a failed save waits so long for the saved gains to be back in the controller; later polls go on trying. */
const BRING_BACK_MS = 100;
/** The pause between two looks for a controller when the daemon starts. */
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
  /** Somebody wants the readings of every poll. */
  readonly isFollowed: () => boolean;
  /** The controller is latched although nobody here asked for it. */
  readonly foundLatched: () => void;
  readonly stepCaptured: (capture: StepCapture) => void;
}

/**
 * One unit as callers ask of it. What resolves has been confirmed by the controller. What rejects has changed nothing of
 * what is wanted, so the next poll takes back what a refused request may have left in the controller.
 */
export class MotorUnit {
  readonly unit: Unit;
  readonly gains: UnitGains;
  readonly stop: UnitStop;
  readonly #clock: Clock;
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
      saved: () => store.find(unit.name)?.gains,
      restores: mode =>
        options.onControllerReset === 'restore' &&
        isAllowed(permission, { kind: 'mode', unit: unit.name, mode }),
      emit,
    });
    const onStatus = (status: StatusFrame) => {
      state.saw(status);
      if (state.latch.holds) silence.latchSeen();
    };
    const controller = new MotorController({ unit, link, clock, onStatus });
    const turns = new Turns(clock, unit.name);
    const reconciler = new Reconciler({ ...options, state, controller, turns });
    const parts = { ...options, state, controller, turns, reconciler, silence };
    const supervision = new UnitSupervision(parts);
    const gate = new RequestGate({ ...parts, supervision });
    this.gains = new UnitGains({
      ...parts,
      gate,
      settle: () => this.settle(),
      bringBack: () => this.bringBack(),
      takeReadings: untilMs => supervision.takeReadings({ priority: 'gains', untilMs }),
    });
    this.stop = new UnitStop({ ...parts, gate, supervision });
    this.#state = state;
    this.#controller = controller;
    this.#gate = gate;
    this.#reconciler = reconciler;
    this.#supervision = supervision;
  }

  /** How the unit is, for people and programs. */
  report() {
    const { online, identity, problem } = this.#supervision;
    const { mode, gains } = this.#state;
    const status = online ? this.#state.status : undefined;
    return {
      online,
      /** As the controller shows it; null until it was heard from. */
      mode,
      faults: faultsOf(status),
      flags: this.flags,
      torque: this.stop.torque,
      /** The wave of debug mode; null outside debug mode and while offline. */
      excitation: (online && mode === 'debug' && this.#state.wave) || null,
      identity,
      /** The saved gains are the active ones. */
      applied: online && this.#state.savedGainsRun,
      trial: gains.trial,
      /** Why it is offline. */
      problem,
    };
  }

  /** The mode that the controller shows, without the whole report. */
  get mode(): Mode | null {
    return this.#state.mode;
  }

  /** The mode in which it may have torque. One that has missed a resume shows an old one, and gets torque in manual only. */
  get modeUnderTorque(): Mode | null {
    return this.#state.latch.hasMissedRelease ? 'manual' : this.#state.mode;
  }

  get flags(): readonly string[] {
    return flagsOf(this.#supervision.online ? this.#state.status : undefined);
  }

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

  /**
   * Resolves when the controller shows what is wanted of it, after whoever has the unit's turn. Rejects with `not-confirmed`
   * where that could not be had in time; polls go on trying.
   */
  async bringBack(): Promise<void> {
    try {
      await this.#gate.inTurn(
        () => undefined,
        untilMs => this.#reconciler.prove(untilMs),
      );
    } catch (cause) {
      throw new RobotError('not-confirmed', { unit: this.unit.name, ended: true }, { cause });
    }
  }

  setMode(mode: Mode, stillWanted?: () => void): Promise<void> {
    return this.#gate.request({ kind: 'mode', unit: this.unit.name, mode }, stillWanted, async untilMs => {
      const sameBoot = this.#state.sameBoot();
      const { wantedWave } = this.#state;
      const settle = await this.#reconciler.setMode(mode, untilMs, sameBoot);
      const wave =
        mode === 'debug' ? await this.#controller.excitation({ priority: 'mode', untilMs }) : undefined;
      sameBoot();
      // A wave that came to its end meanwhile does not come back because it was seen just before.
      this.#state.confirmedMode(mode, this.#state.wantedWave === wantedWave ? wave : undefined);
      settle();
    });
  }

  /** The wave as it was last seen; polls look at it in debug mode. */
  excitation(): Excitation {
    this.#gate.requireOnline();
    const { wave } = this.#state;
    if (wave === undefined) throw new RobotError('unit-busy', { unit: this.unit.name });
    return wave;
  }

  /** `runaway` is the deviation that the controller's guard bears during a trial; the loop's own unless it is given. */
  excite(excitation: Excitation, stillWanted?: () => void, runaway?: number): Promise<Excitation> {
    return this.#gate.request({ kind: 'excite', unit: this.unit.name }, stillWanted, async untilMs => {
      this.#requireDebug();
      const sameBoot = this.#state.sameBoot();
      const guard = this.#state.guardOf(excitation, runaway);
      // The guard comes before its wave; the deviation of one loop is none for another.
      const isOnLoop = this.#state.wave?.loop === excitation.loop;
      if (this.#state.lacksGuard(guard)) await this.#reconciler.guard(isOnLoop ? guard : 0, untilMs);
      await this.#reconciler.excite(excitation, untilMs, sameBoot);
      await this.#reconciler.guard(guard, untilMs);
      const wave = await this.#controller.excitation({ priority: 'mode', untilMs });
      // A controller that was reset just now takes a wave too, and forgets it on its way back into debug.
      await this.#controller.status({ priority: 'mode', untilMs });
      sameBoot();
      this.#requireDebug();
      // The guard may have taken it away since it was read.
      if (excitation.amplitude !== 0 && this.#state.ranAway)
        throw new RobotError('not-confirmed', { unit: this.unit.name, register: 'excitation' });
      this.#state.confirmedWave(wave, runaway);
      return wave;
    });
  }

  /**
   * Takes this trial and this wave away, unless others have taken their place, also while the robot is stopped. Rejects as
   * `bringBack` does.
   */
  endTuning(id: string, wave: Excitation | undefined): Promise<void> {
    if (this.trial?.id === id) this.#state.gains.endTrial('ended');
    if (wave !== undefined) this.#state.endWave(wave);
    return this.bringBack();
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
