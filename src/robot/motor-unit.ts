import { endedWithin } from '../core/clock.js';
import type { Deadlines } from '../core/deadlines.js';
import { RobotError } from '../core/errors.js';
import { type Excitation, type Mode, RATE_COUNTS, type Rates } from '../core/units.js';
import { TAKES_EFFECT_MS } from '../protocol/registers.js';
import type { Torque } from '../schemas/status.js';
import { hostSilence, type SilenceLimits } from './host-silence.js';
import { type Motion, MotorController, READ_AGAIN_MS } from './motor-controller.js';
import { reconcilerOf, type UnitParts } from './reconciler.js';
import { requestGate } from './request-gate.js';
import { unitGains } from './unit-gains.js';
import { type TimedReadings, UnitState } from './unit-state.js';
import { supervise } from './unit-supervision.js';
import type { Trial } from './wanted-gains.js';

/** The pause between two probes at the start of the daemon. */
const PROBE_AGAIN_MS = 20;
/** The longest attempt to latch while a stop waits, and the pause before the next attempt. */
const LATCH_MS = 200;
const LATCH_AGAIN_MS = 10;

/** A motion takes effect in the next loop period. It is read back after this time. */
const MOVES_WITHIN_MS = 2;
/** The longest wait of a frame that ends a motion. */
const HALT_MS = 100;

interface UnitOptions extends Omit<UnitParts, 'silence' | 'state' | 'controller' | 'gate' | 'reconciler'> {
  readonly deadlines: Deadlines;
  readonly silence: SilenceLimits;
  /** The mode that a controller gets after it reset itself. */
  readonly onControllerReset: 'manual' | 'restore';
}

export type MotorUnit = ReturnType<typeof motorUnit>;

function isSameRates(one: Rates, other: Rates): boolean {
  return Object.entries(one).every(([axis, rate]) => Math.abs(rate - (other[axis] ?? 0)) < 1 / RATE_COUNTS);
}

/**
 * One unit as its callers see it. If an act resolves, the controller has confirmed it. If an act rejects, the wanted
 * state has not changed, and the next poll undoes what the refused request left in the controller.
 */
export function motorUnit(options: UnitOptions) {
  const { unit, link, clock, deadlines, store, permission, emit } = options;
  const silence = hostSilence(link, unit, clock, options.silence);
  const state = new UnitState({
    unit,
    clock,
    deadlines,
    saved: () => store.find(unit.name)?.gains,
    restores: mode => options.onControllerReset === 'restore' && gate.allows({ kind: 'mode', mode }),
    emit,
  });
  const controller = new MotorController({
    unit,
    link,
    clock,
    onStatus: status => {
      state.saw(status);
      if (state.latch.holds) silence.latchSeen();
    },
  });
  const gate = requestGate({ unit, clock, permission, state });
  const lower = { ...options, silence, state, controller, gate };
  const reconciler = reconcilerOf(lower);
  const parts = { ...lower, reconciler };
  const supervision = supervise(parts);
  /** The newest attempt to latch that a stop started, and the attempt after it. */
  let attempt: Promise<void> = Promise.resolve();
  let nextAttempt: Promise<void> | undefined;
  /**
   * Latches now, or when the attempt under way has ended. All stops that wait share one attempt: otherwise callers who
   * stop without a pause would leave no bus time for heartbeats and polls.
   */
  const latchTogether = (untilMs: number): Promise<void> => {
    const start = () => {
      nextAttempt = undefined;
      attempt = reconciler.latch(Math.min(untilMs, clock.nowMs() + LATCH_MS));
      return attempt;
    };
    nextAttempt ??= attempt.then(start, start);
    return nextAttempt;
  };
  const halt = async (untilMs: number): Promise<void> => {
    if (!flags().includes('motion')) return;
    await controller.move(() => ({ rates: {}, holdMs: 0 }), untilMs).catch(() => undefined);
  };
  const flags = (): readonly string[] => (state.online && state.status?.flags) || [];
  const torque = (): Torque => {
    if (state.online && state.status !== undefined)
      return state.status.flags.includes('torque') ? 'on' : 'off';
    if (state.latch.holds) return 'off';
    return silence.hasPassed ? 'silent' : 'unknown';
  };
  return {
    name: unit.name,
    gains: unitGains(parts),

    /** The state of the unit, for people and programs. */
    report() {
      const { mode, gains, online, identity, problem } = state;
      const status = online ? state.status : undefined;
      return {
        online,
        /** The mode that the controller shows; null before the first contact. */
        mode,
        faults: status?.faults ?? [],
        flags: flags(),
        /** Whether the controller guards trials. Undefined while the unit is offline. */
        guardsTrials: status?.flags.includes('guarded_excitation'),
        drivable: status?.flags.includes('motion'),
        driver: state.driver.current,
        build: status?.flags.includes('build') ? state.build : undefined,
        torque: torque(),
        /** The excitation; null outside debug mode and while offline. */
        excitation: (online && mode === 'debug' && state.excitation) || null,
        identity,
        /** Whether the saved gains are the active ones. */
        applied: online && state.savedGainsRun,
        trial: gains.trial,
        /** Why the unit is offline. */
        problem,
      };
    },

    get online(): boolean {
      return state.online;
    },

    /** The mode that the controller shows, without the whole report. */
    get mode(): Mode | null {
      return state.mode;
    },

    /**
     * The mode in which the unit may have torque. A controller that missed a resume still shows its old mode, but is
     * put into manual before it gets torque.
     */
    get modeUnderTorque(): Mode | null {
      return state.latch.hasMissedRelease ? 'manual' : state.mode;
    },

    get flags(): readonly string[] {
      return flags();
    },

    get trial(): Trial | undefined {
      return state.gains.trial;
    },

    /** The latest readings; undefined while offline. */
    get telemetry(): TimedReadings | undefined {
      return state.online ? state.telemetry : undefined;
    },

    tick: supervision.tick,

    /** Probes the controller until it is online, or until `untilMs`. A first attempt may fail because of noise. */
    async find(untilMs: number): Promise<void> {
      for (;;) {
        await supervision.probeNow();
        if (state.online || clock.nowMs() + PROBE_AGAIN_MS > untilMs) return;
        await new Promise<void>(resolve => clock.after(PROBE_AGAIN_MS, resolve));
      }
    },

    setMode(mode: Mode, stillWanted?: () => void): Promise<void> {
      return gate.request({ kind: 'mode', mode }, stillWanted, async untilMs => {
        const sameBoot = state.sameBoot();
        // Writing manual in manual does not end a motion.
        if (state.driver.current !== undefined) await halt(untilMs);
        state.driver.end('mode change');
        await reconciler.setMode(mode, { untilMs, stillWanted: sameBoot });
        const shown =
          mode === 'debug' ? await controller.excitation({ priority: 'mode', untilMs }) : undefined;
        sameBoot();
        state.confirmedMode(mode, shown);
      });
    },

    driver: state.driver,
    requireOnline: gate.requireOnline,

    /** Throws `wrong-mode` unless the unit is in manual and nobody has asked for another mode. */
    requireManual(): void {
      const { mode, wantedMode } = state;
      if (mode === 'manual' && wantedMode === 'manual') return;
      throw new RobotError('wrong-mode', { unit: unit.name, mode, needed: 'manual' });
    },

    /** Whether the firmware can move the unit at the rates of a command. */
    get isDrivable(): boolean {
      return flags().includes('motion');
    },

    /**
     * Moves the unit. `motion` is called before each attempt, and may throw. Resolves with the rates that the controller
     * shows: those of the motion, or lower ones that it allows, or 0 after `untilMs`. Does not wait for the unit's turn.
     */
    async move(motion: () => Motion, untilMs: number): Promise<Rates> {
      let wanted: Rates = {};
      const values = () => {
        const { rates, holdMs } = motion();
        wanted = rates;
        return { rates, holdMs };
      };
      await controller.move(values, untilMs);
      const writtenMs = clock.nowMs();
      for (let pauseMs = MOVES_WITHIN_MS; ; pauseMs *= 2) {
        await new Promise<void>(resolve => clock.after(pauseMs, resolve));
        const { rates } = await controller.motion(Math.max(untilMs, clock.nowMs() + MOVES_WITHIN_MS));
        // A controller with lower limits shows other rates for as long as the motion holds.
        const isSettled =
          clock.nowMs() - writtenMs >= TAKES_EFFECT_MS && Object.values(rates).some(rate => rate !== 0);
        if (isSettled || isSameRates(rates, wanted) || clock.nowMs() >= untilMs) return rates;
      }
    },

    /** Ends a motion at once. Never rejects: the controller ends the motion by itself. */
    halt: () => halt(clock.nowMs() + HALT_MS),

    /** The excitation that the last poll in debug mode read. */
    excitation(): Excitation {
      gate.requireOnline();
      if (state.excitation === undefined) throw new RobotError('unit-busy', { unit: unit.name });
      return state.excitation;
    },

    /**
     * `runaway` is the guard during a trial: the distance from the setpoint at which the controller ends the
     * excitation. By default it is the loop's own bound.
     */
    excite(excitation: Excitation, stillWanted?: () => void, runaway?: number): Promise<Excitation> {
      const requireDebug = () => {
        const { mode, wantedMode } = state;
        if (wantedMode !== 'debug') throw new RobotError('wrong-mode', { unit: unit.name, mode });
      };
      const requireTorque = () => {
        const { faults = [] } = state.status ?? {};
        if (excitation.amplitude !== 0 && !state.hasTorque)
          throw new RobotError('no-torque', { unit: unit.name, faults });
      };
      return gate.request({ kind: 'excite' }, stillWanted, async untilMs => {
        const sameBoot = state.sameBoot();
        const requireUnchanged = () => {
          sameBoot();
          requireDebug();
          requireTorque();
        };
        // A heartbeat that was written a moment ago may give torque back after the last status.
        const torqueByMs = clock.nowMs() + TAKES_EFFECT_MS;
        while (excitation.amplitude !== 0 && !state.hasTorque && clock.nowMs() < torqueByMs) {
          await new Promise<void>(resolve => clock.after(READ_AGAIN_MS, resolve));
          await controller.status({ priority: 'mode', untilMs });
        }
        requireUnchanged();
        const guarded = state.guarded(excitation, runaway);
        const shown = await reconciler.excite(guarded, { untilMs, stillWanted: requireUnchanged });
        // A controller that has just reset itself also accepts an excitation, but loses it when it is put
        // back into debug mode. Reading the status detects such a reset.
        await controller.status({ priority: 'mode', untilMs });
        requireUnchanged();
        // The guard may have ended the excitation after it was read.
        if (excitation.amplitude !== 0 && state.ranAway)
          throw new RobotError('not-confirmed', { unit: unit.name, register: 'excitation' });
        return state.confirmedExcitation(shown, runaway);
      });
    },

    /**
     * Ends this trial and this excitation, unless other ones have replaced them. Works also while the robot is stopped.
     * Rejects as `bringBack` of the reconciler does.
     */
    endTuning(id: string, excitation: Excitation | undefined): Promise<void> {
      if (state.gains.trial?.id === id) state.gains.endTrial('ended');
      if (excitation !== undefined && state.wantsExcitation(excitation)) state.endExcitation();
      return reconciler.bringBack();
    },

    /** Undoes what refused requests may have left in the controller. Never rejects. */
    settle: reconciler.settle,

    /**
     * Whether the controller is known to be latched, so that the daemon finds the stop there after a restart.
     */
    get isLatched(): boolean {
      return state.online && state.latch.holds;
    },

    /** Makes the latch wanted. `confirmStop` waits until the controller shows it. */
    stop(): void {
      state.wantStop();
      supervision.probeSoon();
    },

    /**
     * Resolves when the controller has confirmed its latch, or when it must have cut its torque for lack of
     * heartbeats. Does not wait for the unit's turn. Rejects at `untilMs`.
     */
    async confirmStop(untilMs: number): Promise<void> {
      let cause: unknown;
      // A latch that was seen before counts only while the controller is offline. An online controller must confirm it
      // again.
      while (!silence.hasPassed && (state.online || !state.latch.holds)) {
        const nowMs = clock.nowMs();
        if (nowMs >= untilMs)
          throw new RobotError('not-confirmed', { unit: unit.name, register: 'stop' }, { cause });
        try {
          // Nothing is written to an address that never answered as the right controller.
          if (state.identity !== undefined) {
            const latched = latchTogether(untilMs);
            if (await endedWithin(clock, untilMs - nowMs, latched)) return await latched;
          }
        } catch (error) {
          cause = error;
        }
        await new Promise<void>(resolve => clock.after(LATCH_AGAIN_MS, resolve));
      }
    },

    /** Whether a resume is under way. During a resume the latch is not corrected. */
    set isUnderRelease(isUnderRelease: boolean) {
      state.latch.isUnderRelease = isUnderRelease;
    },

    /** Puts the unit into manual, so that nothing moves when torque returns. */
    enterManual: (stillWanted: () => void) =>
      gate.inTurn(untilMs => reconciler.setMode('manual', { untilMs, stillWanted }), stillWanted),

    unlatch: (stillWanted: () => void) =>
      gate.inTurn(untilMs => reconciler.unlatch({ untilMs, stillWanted }), stillWanted),

    /**
     * Call this when the resume was answered 200. `confirmed` is true if this controller has already confirmed its
     * release.
     */
    released: (confirmed: boolean) => state.released(confirmed),
  };
}
