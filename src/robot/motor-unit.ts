import type { Clock } from '../core/clock.js';
import { RobotError } from '../core/errors.js';
import type { Excitation, Mode, Unit } from '../core/units.js';
import type { Readings } from '../protocol/telemetry.js';
import type { Torque } from '../schemas/status.js';
import { HostSilence, type SilenceLimits } from './host-silence.js';
import { MotorController } from './motor-controller.js';
import { isAllowed } from './permission.js';
import { Reconciler } from './reconciler.js';
import { RequestGate } from './request-gate.js';
import { faultsOf, flagsOf, hasFlag, type StatusFrame } from './status-frame.js';
import { UnitStop } from './stop.js';
import { UnitGains } from './unit-gains.js';
import type { UnitParts } from './unit-parts.js';
import { UnitState } from './unit-state.js';
import { UnitSupervision } from './unit-supervision.js';
import type { Trial } from './wanted-gains.js';

/** The pause between two probes when the daemon starts. */
const PROBE_AGAIN_MS = 20;

interface UnitOptions extends Omit<UnitParts, 'silence' | 'state' | 'controller'> {
  readonly silence: SilenceLimits;
  /** Which mode a controller gets that reset itself while the daemon ran. */
  readonly onControllerReset: 'manual' | 'restore';
}

/**
 * One unit as its callers see it. What resolves has been confirmed by the controller. What rejects has not changed what
 * is wanted, so the next poll takes back whatever a refused request left in the controller.
 */
export class MotorUnit {
  readonly unit: Unit;
  readonly gains: UnitGains;
  readonly stop: UnitStop;
  readonly #clock: Clock;
  readonly #silence: HostSilence;
  readonly #state: UnitState;
  readonly #controller: MotorController;
  readonly #gate: RequestGate;
  readonly #reconciler: Reconciler;
  readonly #supervision: UnitSupervision;

  constructor(options: UnitOptions) {
    const { unit, link, clock, store, permission, emit } = options;
    const silence = new HostSilence({ link, address: unit.address, clock, limits: options.silence });
    const state = new UnitState({
      unit,
      clock,
      saved: () => store.find(unit.name)?.gains,
      restores: mode =>
        options.onControllerReset === 'restore' && isAllowed(permission, { kind: 'mode', mode }),
      emit,
    });
    const onStatus = (status: StatusFrame) => {
      state.saw(status);
      if (state.latch.holds) silence.latchSeen();
    };
    const controller = new MotorController({ unit, link, clock, onStatus });
    const parts: UnitParts = { ...options, silence, state, controller };
    this.unit = unit;
    this.#clock = clock;
    this.#silence = silence;
    this.#state = state;
    this.#controller = controller;
    this.#gate = new RequestGate(parts);
    this.#reconciler = new Reconciler(parts, this.#gate);
    this.#supervision = new UnitSupervision(parts, this.#reconciler);
    this.gains = new UnitGains(parts, this.#gate, this.#reconciler, this.#supervision);
    this.stop = new UnitStop(parts, this.#gate, this.#reconciler, this.#supervision);
  }

  /** The state of the unit, for people and programs. */
  report() {
    const { mode, gains, presence } = this.#state;
    const { online, identity, problem } = presence;
    const status = online ? this.#state.status : undefined;
    return {
      online,
      /** The mode that the controller shows; null until it was heard from. */
      mode,
      faults: faultsOf(status),
      flags: this.flags,
      /** Whether the controller itself guards trials; undefined while it is offline. */
      guardsTrials: status && hasFlag(status, 'guarded_excitation'),
      torque: this.#torque,
      /** Null outside debug mode and while offline. */
      excitation: (online && mode === 'debug' && this.#state.excitation) || null,
      identity,
      /** Whether the saved gains are the active ones. */
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

  /**
   * The mode in which the unit may have torque. A controller that has missed a resume still shows its mode of before,
   * but it is put into manual before it gets torque.
   */
  get modeUnderTorque(): Mode | null {
    return this.#state.latch.hasMissedRelease ? 'manual' : this.#state.mode;
  }

  get flags(): readonly string[] {
    return flagsOf(this.#state.presence.online ? this.#state.status : undefined);
  }

  get trial(): Trial | undefined {
    return this.#state.gains.trial;
  }

  /** The latest readings; undefined while offline. */
  get telemetry(): Readings | undefined {
    const { online, telemetry } = this.#state.presence;
    return online ? telemetry : undefined;
  }

  tick(): Promise<void> {
    return this.#supervision.tick();
  }

  /** Probes the controller until it is online or `untilMs` has come. A first try may fail because of noise. */
  async find(untilMs: number): Promise<void> {
    for (;;) {
      await this.tick();
      if (this.#state.presence.online || this.#clock.nowMs() + PROBE_AGAIN_MS > untilMs) return;
      await new Promise<void>(resolve => this.#clock.after(PROBE_AGAIN_MS, resolve));
      this.#supervision.probeSoon();
    }
  }

  setMode(mode: Mode, stillWanted?: () => void): Promise<void> {
    return this.#gate.request({ kind: 'mode', mode }, stillWanted, async untilMs => {
      const sameBoot = this.#state.sameBoot();
      const { wantedExcitation } = this.#state;
      await this.#reconciler.setMode(mode, untilMs, sameBoot);
      const shown =
        mode === 'debug' ? await this.#controller.excitation({ priority: 'mode', untilMs }) : undefined;
      sameBoot();
      // The controller's guard may have ended the excitation after it was read above. Then what was read is stale.
      const isFresh = this.#state.wantedExcitation === wantedExcitation;
      this.#state.confirmedMode(mode, isFresh ? shown : undefined);
    });
  }

  /** The excitation that the last poll in debug mode read. */
  excitation(): Excitation {
    this.#gate.requireOnline();
    const { excitation } = this.#state;
    if (excitation === undefined) throw new RobotError('unit-busy', { unit: this.unit.name });
    return excitation;
  }

  /**
   * `runaway` is the largest deviation that the controller's guard allows during a trial. The loop's own bound holds
   * unless it is given.
   */
  excite(excitation: Excitation, stillWanted?: () => void, runaway?: number): Promise<Excitation> {
    return this.#gate.request({ kind: 'excite' }, stillWanted, async untilMs => {
      this.#requireDebug();
      const sameBoot = this.#state.sameBoot();
      const guarded = this.#state.guarded(excitation, runaway);
      const shown = await this.#reconciler.excite(guarded, untilMs, sameBoot);
      // A controller that was reset just now also accepts an excitation, and forgets it when it is put back into debug
      // mode. The status shows such a reset.
      await this.#controller.status({ priority: 'mode', untilMs });
      sameBoot();
      this.#requireDebug();
      // The guard may have ended the excitation since it was read.
      if (excitation.amplitude !== 0 && this.#state.ranAway)
        throw new RobotError('not-confirmed', { unit: this.unit.name, register: 'excitation' });
      return this.#state.confirmedExcitation(shown, runaway);
    });
  }

  /**
   * Ends this trial and this excitation, unless others have taken their place. Works also while the robot is stopped.
   * Rejects as `UnitGains.bringBack` does.
   */
  endTuning(id: string, excitation: Excitation | undefined): Promise<void> {
    if (this.trial?.id === id) this.#state.gains.endTrial('ended');
    if (excitation !== undefined) this.#state.endExcitation(excitation);
    return this.gains.bringBack();
  }

  get #torque(): Torque {
    const { presence, status, latch } = this.#state;
    if (presence.online && status !== undefined) return hasFlag(status, 'torque') ? 'on' : 'off';
    if (latch.holds) return 'off';
    return this.#silence.hasPassed ? 'silent' : 'unknown';
  }

  #requireDebug(): void {
    const { mode, wantedMode } = this.#state;
    if (wantedMode !== 'debug') throw new RobotError('wrong-mode', { unit: this.unit.name, mode });
  }
}
