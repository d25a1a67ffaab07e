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

interface UnitOptions extends Omit<UnitParts, 'silence' | 'state' | 'controller' | 'gate'> {
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
  readonly #parts: UnitParts;
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
    const gate = new RequestGate({ unit, clock, permission, state });
    const parts = { ...options, silence, state, controller, gate };
    this.unit = unit;
    this.#parts = parts;
    this.#reconciler = new Reconciler(parts);
    this.#supervision = new UnitSupervision(parts, this.#reconciler);
    this.gains = new UnitGains(parts, this.#reconciler);
    this.stop = new UnitStop(parts, this.#reconciler, this.#supervision);
  }

  /** The state of the unit, for people and programs. */
  report() {
    const { state } = this.#parts;
    const { mode, gains, online, identity, problem } = state;
    const status = online ? state.status : undefined;
    return {
      online,
      /** The mode that the controller shows; null before the first contact. */
      mode,
      faults: faultsOf(status),
      flags: this.flags,
      /** Whether the controller itself guards trials; undefined while it is offline. */
      guardsTrials: status && hasFlag(status, 'guarded_excitation'),
      torque: this.#torque,
      /** Null outside debug mode and while offline. */
      excitation: (online && mode === 'debug' && state.excitation) || null,
      identity,
      /** Whether the saved gains are the active ones. */
      applied: online && state.savedGainsRun,
      trial: gains.trial,
      /** Why it is offline. */
      problem,
    };
  }

  /** The mode that the controller shows, without the whole report. */
  get mode(): Mode | null {
    return this.#parts.state.mode;
  }

  /**
   * The mode in which the unit may have torque. A controller that has missed a resume still shows its mode of before,
   * but it is put into manual before it gets torque.
   */
  get modeUnderTorque(): Mode | null {
    const { latch, mode } = this.#parts.state;
    return latch.hasMissedRelease ? 'manual' : mode;
  }

  get flags(): readonly string[] {
    const { online, status } = this.#parts.state;
    return flagsOf(online ? status : undefined);
  }

  get trial(): Trial | undefined {
    return this.#parts.state.gains.trial;
  }

  /** The latest readings; undefined while offline. */
  get telemetry(): Readings | undefined {
    const { online, telemetry } = this.#parts.state;
    return online ? telemetry : undefined;
  }

  tick(): Promise<void> {
    return this.#supervision.tick();
  }

  /** Probes the controller until it is online or `untilMs` has come. A first try may fail because of noise. */
  async find(untilMs: number): Promise<void> {
    const { state, clock } = this.#parts;
    for (;;) {
      await this.tick();
      if (state.online || clock.nowMs() + PROBE_AGAIN_MS > untilMs) return;
      await new Promise<void>(resolve => clock.after(PROBE_AGAIN_MS, resolve));
      this.#supervision.probeSoon();
    }
  }

  setMode(mode: Mode, stillWanted?: () => void): Promise<void> {
    const { state, controller, gate } = this.#parts;
    return gate.request({ kind: 'mode', mode }, stillWanted, async untilMs => {
      const sameBoot = state.sameBoot();
      const { wantedExcitation } = state;
      await this.#reconciler.setMode(mode, untilMs, sameBoot);
      const shown = mode === 'debug' ? await controller.excitation({ priority: 'mode', untilMs }) : undefined;
      sameBoot();
      // The controller's guard may have ended the excitation after the read above. `shown` is then stale.
      const isFresh = state.wantedExcitation === wantedExcitation;
      state.confirmedMode(mode, isFresh ? shown : undefined);
    });
  }

  /** The excitation that the last poll in debug mode read. */
  excitation(): Excitation {
    const { state, gate } = this.#parts;
    gate.requireOnline();
    if (state.excitation === undefined) throw new RobotError('unit-busy', { unit: this.unit.name });
    return state.excitation;
  }

  /**
   * `runaway` is the largest deviation that the controller's guard allows during a trial. The loop's own bound holds
   * unless it is given.
   */
  excite(excitation: Excitation, stillWanted?: () => void, runaway?: number): Promise<Excitation> {
    const { state, controller, gate } = this.#parts;
    return gate.request({ kind: 'excite' }, stillWanted, async untilMs => {
      this.#requireDebug();
      const sameBoot = state.sameBoot();
      const shown = await this.#reconciler.excite(state.guarded(excitation, runaway), untilMs, sameBoot);
      // A controller that was reset just now also accepts an excitation, and forgets it when it is put back into debug
      // mode. The status shows such a reset.
      await controller.status({ priority: 'mode', untilMs });
      sameBoot();
      this.#requireDebug();
      // The guard may have ended the excitation since it was read.
      if (excitation.amplitude !== 0 && state.ranAway)
        throw new RobotError('not-confirmed', { unit: this.unit.name, register: 'excitation' });
      return state.confirmedExcitation(shown, runaway);
    });
  }

  /**
   * Ends this trial and this excitation, unless others have taken their place. Works also while the robot is stopped.
   * Rejects as `Reconciler.bringBack` does.
   */
  endTuning(id: string, excitation: Excitation | undefined): Promise<void> {
    const { state } = this.#parts;
    if (this.trial?.id === id) state.gains.endTrial('ended');
    if (excitation !== undefined) state.endExcitation(excitation);
    return this.#reconciler.bringBack();
  }

  /** Takes back what refused requests may have left in the controller. Never rejects. */
  settle(): Promise<void> {
    return this.#reconciler.settle();
  }

  get #torque(): Torque {
    const { state, silence } = this.#parts;
    if (state.online && state.status !== undefined) return hasFlag(state.status, 'torque') ? 'on' : 'off';
    if (state.latch.holds) return 'off';
    return silence.hasPassed ? 'silent' : 'unknown';
  }

  #requireDebug(): void {
    const { mode, wantedMode } = this.#parts.state;
    if (wantedMode !== 'debug') throw new RobotError('wrong-mode', { unit: this.unit.name, mode });
  }
}
