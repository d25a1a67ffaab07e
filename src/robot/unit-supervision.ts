import type { Clock } from '../core/clock.js';
import { asRobotError, isRobotError, type RobotError } from '../core/errors.js';
import type { Unit } from '../core/units.js';
import type { Link, Urgency } from '../protocol/link.js';
import type { HostSilence } from './host-silence.js';
import type { Identity, MotorController } from './motor-controller.js';
import type { Reconciler } from './reconciler.js';
import type { UnitEvent } from './robot-event.js';
import { type StepCapture, StepReader } from './step-reader.js';
import type { UnitState } from './unit-state.js';

const POLL_MS = 100;
const TAKE_IN_MS = 350;
/** How long readings wait at most for switches that callers asked for. */
const GIVE_WAY_MS = 20;
/** The readings of a unit at rest are taken anew after this time: at every fifth poll of 50 Hz. */
const READ_AT_REST_MS = 90;
/** A unit at rest gets a heartbeat after this time: at every third poll of 50 Hz, and within 100 ms or one poll. */
const BEAT_AT_REST_MS = 50;
/**
 * Controllers with a shorter host silence hear a heartbeat at every poll. Where polls come at 10 Hz or more, the others
 * may lose two in a row and keep torque.
 */
const PATIENT_MS = 450;
/** Failed polls in a row before a controller counts as gone. */
const MISSED_POLLS = 3;
const FIRST_PROBE_MS = 100;
const SLOWEST_PROBE_MS = 1000;

interface SupervisionOptions {
  readonly state: UnitState;
  readonly controller: MotorController;
  readonly reconciler: Reconciler;
  readonly silence: HostSilence;
  readonly clock: Clock;
  readonly emit: (event: UnitEvent) => void;
  readonly isFollowed: () => boolean;
  readonly unit: Unit;
  readonly link: Link;
  readonly stepCaptured: (capture: StepCapture) => void;
}

/** Finds one motor controller, looks at it at every tick, and has what differs mended. */
export class UnitSupervision {
  readonly #state: UnitState;
  readonly #controller: MotorController;
  readonly #reconciler: Reconciler;
  readonly #silence: HostSilence;
  readonly #clock: Clock;
  readonly #emit: (event: UnitEvent) => void;
  readonly #isFollowed: () => boolean;
  readonly #steps: StepReader;
  #identity: Identity | undefined;
  /** Boot id of the controller that was taken in last. */
  #takenInBootId: number | undefined;
  #telemetry: Readonly<Record<string, number>> | undefined;
  #readAtMs = 0;
  /** When the last heartbeat arrived. */
  #beatAtMs = 0;
  #online = false;
  #problem: RobotError | undefined;
  #ticking = false;
  #missed = 0;
  #probeEveryMs = FIRST_PROBE_MS;
  #probeAtMs = 0;

  constructor(options: SupervisionOptions) {
    this.#state = options.state;
    this.#controller = options.controller;
    this.#reconciler = options.reconciler;
    this.#silence = options.silence;
    this.#clock = options.clock;
    this.#emit = options.emit;
    this.#isFollowed = options.isFollowed;
    this.#steps = new StepReader(options);
  }

  get online(): boolean {
    return this.#online;
  }

  /** Undefined until a controller of the right kind answered. */
  get identity(): Identity | undefined {
    return this.#identity;
  }

  /** Why it is offline. */
  get problem(): RobotError | undefined {
    return this.#problem;
  }

  /** The newest readings by the names of their fields; undefined while offline. */
  get telemetry(): Readonly<Record<string, number>> | undefined {
    return this.#online ? this.#telemetry : undefined;
  }

  /** An offline controller is looked for at the next tick, however long the pause between two looks has become. */
  lookSoon(): void {
    this.#probeAtMs = 0;
    this.#probeEveryMs = FIRST_PROBE_MS;
  }

  /**
   * Reads anew at once; polls do so by themselves, but not each of them. Switches go before readings, but not for ever:
   * callers who leave no gap would make the unit count as offline.
   */
  async takeReadings(urgency: Urgency): Promise<void> {
    const untilMs = Math.min(urgency.untilMs, this.#clock.nowMs() + GIVE_WAY_MS);
    this.#telemetry = await this.#controller.telemetry({ priority: 'readings', untilMs }).catch(error => {
      if (!isRobotError(error, 'bus-busy')) throw error;
      return this.#controller.telemetry(urgency);
    });
    this.#readAtMs = this.#clock.nowMs();
  }

  /** One step. Never rejects; does nothing while the step before is still under way. */
  async tick(): Promise<void> {
    const { trial } = this.#state.gains;
    if (trial !== undefined && this.#clock.nowMs() >= trial.endsAtMs) this.#state.gains.endTrial('lease');
    if (this.#ticking) return;
    this.#ticking = true;
    try {
      if (this.#online) await this.#poll();
      else if (this.#clock.nowMs() >= this.#probeAtMs) await this.#probe();
    } finally {
      this.#ticking = false;
    }
  }

  async #poll(): Promise<void> {
    const untilMs = this.#clock.nowMs() + POLL_MS;
    try {
      await this.#look(untilMs);
      if (!this.#isTakenIn) await this.#takeIn();
      this.#missed = 0;
      this.#beside(this.#reconciler.mendInLine());
    } catch (error) {
      this.#missed += 1;
      this.#emit({ what: 'poll failed', error });
      if (this.#missed >= MISSED_POLLS) this.#gone(error);
    }
  }

  async #probe(): Promise<void> {
    try {
      await this.#takeIn();
      await this.#reconciler.mendInLine();
      this.#probeEveryMs = FIRST_PROBE_MS;
      this.#missed = 0;
      this.#problem = undefined;
      this.#online = true;
      this.#emit({ what: 'online' });
    } catch (error) {
      this.#gone(error);
      this.#emit({ what: 'not found', error });
      // A stop that came meanwhile has not reached it yet.
      if (isRobotError(error, 'stopped')) this.lookSoon();
      else this.#probeAtMs = this.#clock.nowMs() + this.#probeEveryMs;
      this.#probeEveryMs = Math.min(SLOWEST_PROBE_MS, this.#probeEveryMs * 2);
    }
  }

  #gone(error: unknown): void {
    this.#problem = asRobotError(error);
    this.#telemetry = undefined;
    if (!this.#online) return;
    this.#online = false;
    this.#probeAtMs = 0;
    this.#state.gains.endTrial('offline');
    this.#emit({ what: 'offline', error });
  }

  /** Takes a controller in as it stands, and gives it the latch that it has to have. */
  async #takeIn(): Promise<void> {
    const untilMs = this.#clock.nowMs() + TAKE_IN_MS;
    const urgency: Urgency = { priority: 'supervision', untilMs };
    this.#identity = await this.#controller.identify(urgency);
    await this.#look(untilMs);
    const excitation = await this.#controller.excitation(urgency);
    // Only trials have a guard. A guard at first contact means that a daemon ended in the middle of a trial.
    if (this.#takenInBootId === undefined && excitation.deviation !== 0) this.#state.endExcitation();
    this.#state.sawExcitation(excitation);
    this.#takenInBootId = this.#state.status?.boot_id;
  }

  /**
   * Heartbeat, status, latch, excitation and readings. The latch comes before the heartbeat while the robot is stopped, while a
   * release is due, and where the controller is just being found.
   */
  async #look(untilMs: number): Promise<void> {
    const urgency: Urgency = { priority: 'supervision', untilMs };
    const { isWanted, isReleasing } = this.#state.latch;
    const latchFirst = isWanted || isReleasing || !this.#online;
    const isBeatDue = this.#isBeatDue;
    if (isBeatDue && !latchFirst) await this.#beat(urgency);
    const status = await this.#controller.status(urgency);
    await this.#reconciler.mendLatch(untilMs);
    if (isBeatDue && latchFirst) await this.#beat(urgency);
    this.#beside(this.#steps.read(status));
    if (this.#state.mode === 'debug') this.#state.sawExcitation(await this.#controller.excitation(urgency));
    if (this.#areReadingsDue) await this.takeReadings(urgency);
  }

  /**
   * Whether the unit is in manual without a trial, and nobody follows its readings. Then heartbeats and readings are
   * fewer, which leaves bus and processor to others, such as a vision program.
   */
  get #isAtRest(): boolean {
    const { mode, gains } = this.#state;
    return mode === 'manual' && gains.trial === undefined && !this.#isFollowed();
  }

  get #areReadingsDue(): boolean {
    return !this.#isAtRest || this.#telemetry === undefined || this.#isOlder(this.#readAtMs, READ_AT_REST_MS);
  }

  /** False also for a controller that was reset: it has heard no heartbeat since. */
  get #isTakenIn(): boolean {
    return this.#online && this.#state.status?.boot_id === this.#takenInBootId;
  }

  get #isBeatDue(): boolean {
    const { givenMs } = this.#silence;
    const isPatient = givenMs === 0 || givenMs >= PATIENT_MS;
    const isRare = this.#isAtRest && isPatient && this.#isTakenIn;
    return !isRare || this.#isOlder(this.#beatAtMs, BEAT_AT_REST_MS);
  }

  #isOlder(atMs: number, ageMs: number): boolean {
    return this.#clock.nowMs() - atMs >= ageMs;
  }

  async #beat(urgency: Urgency): Promise<void> {
    await this.#controller.heartbeat(this.#silence.givenMs, urgency);
    this.#silence.given();
    this.#beatAtMs = this.#clock.nowMs();
  }

  /** Lets `work` run beside the polls, so that no heartbeat waits for it. Its failure is no missed poll. */
  #beside(work: Promise<void>): void {
    void work.catch(error => this.#emit({ what: 'poll failed', error }));
  }
}
