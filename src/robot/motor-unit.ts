import { type Clock, endedWithin, pause } from '../core/clock.js';
import type { Deadlines } from '../core/deadlines.js';
import { passes, RobotError } from '../core/errors.js';
import type { Excitation, Mode, Unit } from '../core/units.js';
import type { GainsStore } from '../gains/gains-store.js';
import type { Link } from '../protocol/link.js';
import { TAKES_EFFECT_MS } from '../protocol/registers.js';
import type { Torque } from '../schemas/status.js';
import { stopConfirmation } from './confirm-stop.js';
import { hostSilence, type SilenceLimits } from './host-silence.js';
import { MotorController, READ_AGAIN_MS } from './motor-controller.js';
import type { TimedReadings } from './observed.js';
import { reconcilerOf } from './reconciler.js';
import { type Permission, requestGate } from './request-gate.js';
import type { DriveEnd, StepCapture } from './robot-event.js';
import { stepCaptures } from './step-captures.js';
import { unitGains } from './unit-gains.js';
import { unitMotion } from './unit-motion.js';
import type { News } from './unit-rules.js';
import { UnitState } from './unit-state.js';
import { supervise } from './unit-supervision.js';
import { type DriverName, isSameDriver, type Wanted } from './wanted.js';

/** The pause between two probes at the start of the daemon. */
const PROBE_AGAIN_MS = 20;
/** A mode switch waits at most this long for the halt of its unit, which goes on after that. */
const HALT_MS = 100;

interface UnitOptions {
  readonly unit: Unit;
  readonly clock: Clock;
  readonly deadlines: Deadlines;
  readonly link: Link;
  readonly store: GainsStore;
  readonly permission: Permission;
  readonly silence: SilenceLimits;
  /** The mode that a controller gets after it reset itself. */
  readonly onControllerReset: 'manual' | 'restore';
  /** Whether a listener wants the readings of every poll. */
  readonly isFollowed: () => boolean;
  readonly stepCaptured: (capture: StepCapture) => void;
  readonly emit: (news: News) => void;
}

interface ExciteOptions {
  readonly stillWanted?: () => void;
  /** The guard during a trial: the distance from the setpoint at which the controller ends the excitation. By default the loop's own bound. */
  readonly runaway?: number | undefined;
  readonly sinceMs?: number;
}

export type MotorUnit = ReturnType<typeof motorUnit>;

/**
 * One unit as its callers see it. If an act resolves, the controller has confirmed it. If an act rejects, the wanted
 * state has not changed, and the next poll undoes what the refused request left in the controller.
 */
export function motorUnit(options: UnitOptions) {
  const { unit, link, clock, deadlines, store, permission, isFollowed, stepCaptured, emit } = options;
  const silence = hostSilence(link, unit, clock, options.silence);
  const state = new UnitState({
    unit,
    clock,
    deadlines,
    saved: () => store.find(unit.name)?.gains,
    restores: mode =>
      options.onControllerReset === 'restore' && passes(() => permission.require({ kind: 'mode', mode })),
    emit,
  });
  const { observed } = state;
  const controller = new MotorController({
    unit,
    link,
    clock,
    onStatus: status => {
      state.saw(status);
      if (state.latch.holds) silence.latchSeen();
    },
  });
  const gate = requestGate(clock, permission, state);
  const reconciler = reconcilerOf(clock, state, controller, gate);
  const readCapture = stepCaptures(unit, clock, link, stepCaptured);
  const supervision = supervise({ clock, silence, state, controller, reconciler, isFollowed, readCapture });
  const { move, halt, haltEnded, accept, waitsNoMore, calm } = unitMotion(clock, controller);
  const calmUnlessDriven = () => calm(state.wanted.driver !== undefined);
  let restedMs = Number.NEGATIVE_INFINITY;
  /** When the newest request was read that stops the robot, switches the mode, or ends an excitation, a trial or a tuning. */
  let endedMs = Number.NEGATIVE_INFINITY;
  /** The newest stop or switch to manual. */
  let manualMs = Number.NEGATIVE_INFINITY;
  const rest = (ms: number): void => {
    restedMs = Math.max(restedMs, ms);
  };
  const ended = (): void => {
    endedMs = clock.nowMs();
  };
  /**
   * Call this when a request is read that may have come at `sinceMs`. Returns a check that throws `too-late` if an end that was
   * read before may be newer.
   */
  const notOlder = (sinceMs: number): (() => void) => {
    const isOlder = sinceMs < endedMs;
    return () => {
      if (isOlder) throw new RobotError('too-late');
    };
  };
  const torque = (): Torque => {
    if (observed.online && observed.status !== undefined) return observed.has('torque') ? 'on' : 'off';
    if (state.latch.holds) return 'off';
    return silence.hasPassed ? 'silent' : 'unknown';
  };
  return {
    name: unit.name,
    gains: unitGains({ clock, store, permission, state, controller, gate, reconciler, ended, notOlder }),

    /** The state of the unit, for people and programs. */
    report() {
      const { excitation, flags, mode, online, identity, problem } = observed;
      const status = online ? observed.status : undefined;
      const { driver, trial } = state.wanted;
      return {
        online,
        /** The mode that the controller shows; null before the first contact. */
        mode,
        faults: status?.faults ?? [],
        flags,
        /** Whether the controller guards trials. Undefined while the unit is offline. */
        guardsTrials: status?.flags.includes('guarded_excitation'),
        drivable: status?.flags.includes('motion'),
        driver,
        build: status?.flags.includes('build') ? observed.build : undefined,
        torque: torque(),
        /** The excitation; null outside debug mode and while offline. */
        excitation: (online && mode === 'debug' && excitation) || null,
        identity,
        /** Whether the saved gains are the active ones. */
        applied: online && state.runs(state.saved),
        trial,
        /** Why the unit is offline. */
        problem,
      };
    },

    get online(): boolean {
      return observed.online;
    },

    /** The mode that the controller shows, without the whole report. */
    get mode(): Mode | null {
      return observed.mode;
    },

    /**
     * The mode in which the unit may have torque. A controller that missed a resume still shows its old mode, but is
     * put into manual before it gets torque.
     */
    get modeUnderTorque(): Mode | null {
      return state.wanted.latch === 'released' ? 'manual' : observed.mode;
    },

    get flags(): readonly string[] {
      return observed.flags;
    },

    /** Since when the controller has run the gains that it should run (Clock milliseconds). Infinity while it runs others. */
    get gainsSinceMs(): number {
      const { trial } = state.wanted;
      return state.runs(trial?.gains ?? state.saved) ? observed.gainsSinceMs : Number.POSITIVE_INFINITY;
    },

    get trial(): Wanted['trial'] {
      return state.wanted.trial;
    },

    /** Undefined while nobody drives. */
    get driver(): Wanted['driver'] {
      return state.wanted.driver;
    },

    /** The latest readings; undefined while offline. */
    get telemetry(): TimedReadings | undefined {
      return observed.online ? observed.telemetry : undefined;
    },

    tick(): Promise<void> | undefined {
      calmUnlessDriven();
      return supervision.tick();
    },

    /** Probes the controller until it is online, or until `untilMs`. A first attempt may fail because of noise. */
    async find(untilMs: number): Promise<void> {
      for (;;) {
        await supervision.probeNow();
        if (observed.online || clock.nowMs() + PROBE_AGAIN_MS > untilMs) return;
        await pause(clock, PROBE_AGAIN_MS);
      }
    },

    /**
     * `sinceMs` is the earliest time at which the request may have come. A mode that moves the unit is too late if a stop or a
     * switch to manual was read before the request, but may be newer.
     */
    setMode(mode: Mode, stillWanted?: () => void, sinceMs = clock.nowMs()): Promise<void> {
      const askedMs = clock.nowMs();
      ended();
      return gate.request({ kind: 'mode', mode }, stillWanted, async (untilMs, requireAllowed) => {
        if (mode !== 'manual' && sinceMs < manualMs) throw new RobotError('too-late');
        const sameBoot = state.sameBoot();
        const requireDue = () => {
          sameBoot();
          // A switch to manual that has begun needs neither its caller nor a permission.
          if (mode !== 'manual') requireAllowed();
        };
        await reconciler.setMode(mode, { untilMs, requireDue });
        const shown =
          mode === 'debug' ? await controller.excitation({ priority: 'mode', untilMs }) : undefined;
        requireDue();
        state.confirmedMode(mode, shown);
        rest(askedMs);
        if (mode === 'manual') manualMs = Math.max(manualMs, askedMs);
        // Writing manual in manual does not end a motion.
        calmUnlessDriven();
        await endedWithin(clock, HALT_MS, haltEnded());
      });
    },

    /** This caller drives from now on. The command holds until `holdsUntilMs`. */
    begin({ by, id }: DriverName, holdsUntilMs: number): void {
      const { driver } = state.wanted;
      const nowMs = clock.nowMs();
      const isTaken = driver !== undefined && !isSameDriver(driver, { by, id });
      if (isTaken) {
        rest(nowMs);
        // The command that takes the unit may fail before its frame. The motion of the other driver must end anyway.
        calm(false);
      }
      accept(holdsUntilMs);
      state.take('drive', { by, id, nowMs, holdsUntilMs });
    },

    /** The newest halt, stop, mode switch or takeover. A command that may be older does not move the unit. */
    get restedMs(): number {
      return restedMs;
    },

    rest,
    ended,
    notOlder,

    /** A frame of the driver is being sent. */
    drives: () => state.take('drive frame', {}),

    endDrive(why: DriveEnd): void {
      state.take('drive over', { why });
      calmUnlessDriven();
    },

    move,
    waitsNoMore,
    halt,
    haltEnded,
    requireOnline: gate.requireOnline,

    /** Throws `wrong-mode` unless the unit is in manual and nobody has asked for another mode. */
    requireManual(): void {
      const { mode } = observed;
      if (mode === 'manual' && state.wanted.mode === 'manual') return;
      throw new RobotError('wrong-mode', { unit: unit.name, mode, needed: 'manual' });
    },

    /** The excitation that the last poll in debug mode read. */
    excitation(): Excitation {
      gate.requireOnline();
      if (observed.excitation === undefined) throw new RobotError('unit-busy', { unit: unit.name });
      return observed.excitation;
    },

    /** `sinceMs` is the earliest time at which the request may have come. */
    excite(
      excitation: Excitation,
      { stillWanted, runaway, sinceMs = clock.nowMs() }: ExciteOptions = {},
    ): Promise<Excitation> {
      const isEnd = excitation.amplitude === 0;
      const requireNewer = notOlder(sinceMs);
      if (isEnd) ended();
      const lacksTorque = () => !isEnd && !observed.has('torque');
      return gate.request({ kind: 'excite', isEnd }, stillWanted, async (untilMs, requireAllowed) => {
        if (!isEnd) requireNewer();
        const sameBoot = state.sameBoot();
        const requireUnchanged = () => {
          sameBoot();
          // An end that has begun needs neither its caller nor a permission.
          if (!isEnd) requireAllowed();
          const { mode, status } = observed;
          if (state.wanted.mode !== 'debug') throw new RobotError('wrong-mode', { unit: unit.name, mode });
          if (lacksTorque())
            throw new RobotError('no-torque', { unit: unit.name, faults: status?.faults ?? [] });
        };
        // A heartbeat that was written a moment ago may give torque back after the last status.
        const torqueByMs = clock.nowMs() + TAKES_EFFECT_MS;
        while (lacksTorque() && clock.nowMs() < torqueByMs) {
          await pause(clock, READ_AGAIN_MS);
          await controller.status({ priority: 'mode', untilMs });
        }
        requireUnchanged();
        const guarded = state.guarded(excitation, runaway);
        const shown = await reconciler.excite(guarded, { untilMs, requireDue: requireUnchanged });
        // A controller that has just reset itself also accepts an excitation, but loses it when it is put
        // back into debug mode. Reading the status detects such a reset.
        await controller.status({ priority: 'mode', untilMs });
        requireUnchanged();
        // The guard may have ended the excitation after it was read.
        if (!isEnd && observed.status?.faults.includes('ran_away'))
          throw new RobotError('not-confirmed', { unit: unit.name, register: 'excitation' });
        const confirmed = observed.show(shown);
        state.take('excitation', { excitation: confirmed, runaway });
        return confirmed;
      });
    },

    /**
     * Ends this trial and this excitation, unless other ones have replaced them. Works also while the robot is stopped.
     * Rejects as `bringBack` of the reconciler does.
     */
    endTuning(id: string, excitation: Excitation | undefined): Promise<void> {
      const before = state.wanted.excitation;
      state.take('tuning over', { id, excitation });
      if (state.wanted.excitation !== before) state.excitationFrames.disturb();
      return reconciler.bringBack();
    },

    /** Undoes what refused requests may have left in the controller. Never rejects. */
    settle: reconciler.settle,

    /**
     * Whether the controller is known to be latched, so that the daemon finds the stop there after a restart.
     */
    get isLatched(): boolean {
      return observed.online && state.latch.holds;
    },

    /** Makes the latch wanted. `confirmStop` waits until the controller shows it. */
    stop(): void {
      rest(clock.nowMs());
      ended();
      manualMs = clock.nowMs();
      state.endExcitation('stop', {});
      supervision.probeSoon();
    },

    confirmStop: stopConfirmation(clock, silence, state, reconciler),

    beginResume: () => state.take('resume begun', {}),
    refuseResume: () => state.take('resume refused', {}),

    /** Puts the unit into manual, so that nothing moves when torque returns. */
    enterManual: (requireDue: () => void) =>
      gate.inTurn(untilMs => reconciler.setMode('manual', { untilMs, requireDue }), requireDue),

    unlatch: (requireDue: () => void) =>
      gate.inTurn(untilMs => reconciler.unlatch({ untilMs, requireDue }), requireDue),

    /**
     * Call this when the resume was answered 200. `confirmed` is true if this controller has already confirmed its
     * release.
     */
    released(confirmed: boolean): void {
      state.released(confirmed);
      calmUnlessDriven();
    },
  };
}
