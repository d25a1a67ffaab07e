import { asRobotError, isRobotError } from '../core/errors.js';
import { QUANTITIES } from '../core/units.js';
import type { Urgency } from '../protocol/link.js';
import { CAPTURE_PAGE_SAMPLES, capturePageRegister, REGISTERS } from '../protocol/registers.js';
import type { ControllerStatus } from './motor-controller.js';
import type { UnitParts } from './reconciler.js';
import { failure } from './robot-event.js';

const POLL_MS = 100;
const TAKE_IN_MS = 350;
/** The age at which the readings of a resting unit are read again: every fifth poll at 50 Hz. */
const READ_AT_REST_MS = 90;
/**
 * The pause between heartbeats of a resting unit: every third poll at 50 Hz, and never more than 100 ms or one poll.
 */
const BEAT_AT_REST_MS = 50;
/**
 * A controller with a shorter host silence gets a heartbeat at every poll. At 10 polls a second or more, the others
 * keep torque even if two heartbeats in a row are lost.
 */
const PATIENT_MS = 450;
/** Failed polls in a row before a controller counts as offline. */
const MISSED_POLLS = 3;
const FIRST_PROBE_MS = 100;
const SLOWEST_PROBE_MS = 1000;
/** Longest time to read one capture. It has about 40 pages, and everything else on the bus comes first. */
const CAPTURE_MS = 1500;

/** Polls one motor controller while it is online, probes it while it is offline, and lets differences be corrected. */
export class UnitSupervision {
  readonly #parts: UnitParts;
  /** The controller's boot id when it was last adopted. */
  #takenInBootId: number | undefined;
  /**
   * The latest status with its step capture. Capture numbers restart with the controller, so the boot id counts as well.
   */
  #captured: ControllerStatus | undefined;
  #beatAtMs = 0;
  #ticking = false;
  #missed = 0;
  #probeEveryMs = FIRST_PROBE_MS;
  #probeAtMs = 0;

  constructor(parts: UnitParts) {
    this.#parts = parts;
  }

  /** Probes an offline controller at the next tick, even if the pause between probes is longer. */
  probeSoon(): void {
    this.#probeAtMs = 0;
    this.#probeEveryMs = FIRST_PROBE_MS;
  }

  /** One poll or probe. Never rejects. Does nothing while the previous one is still running. */
  async tick(): Promise<void> {
    const { state, clock } = this.#parts;
    const { trial } = state.gains;
    if (trial !== undefined && clock.nowMs() >= trial.endsAtMs) state.gains.endTrial('lease');
    if (this.#ticking) return;
    this.#ticking = true;
    try {
      if (state.online) await this.#poll();
      else if (clock.nowMs() >= this.#probeAtMs) await this.#probe();
    } finally {
      this.#ticking = false;
    }
  }

  async #poll(): Promise<void> {
    const { clock, emit } = this.#parts;
    try {
      await this.#read(clock.nowMs() + POLL_MS);
      if (!this.#isTakenIn) await this.#takeIn();
      this.#missed = 0;
      this.#beside(this.#parts.reconciler.mendInLine());
    } catch (error) {
      this.#missed += 1;
      emit(failure('poll-failed', error));
      if (this.#missed >= MISSED_POLLS) this.#gone(error);
    }
  }

  async #probe(): Promise<void> {
    const { state, clock, emit } = this.#parts;
    try {
      await this.#takeIn();
      await this.#parts.reconciler.mendInLine();
      this.#probeEveryMs = FIRST_PROBE_MS;
      this.#missed = 0;
      state.problem = undefined;
      state.online = true;
      emit({ what: 'online' });
    } catch (error) {
      this.#gone(error);
      emit(failure('not-found', error));
      // A stop that came during the probe has not reached the controller yet.
      if (isRobotError(error, 'stopped')) this.probeSoon();
      else this.#probeAtMs = clock.nowMs() + this.#probeEveryMs;
      this.#probeEveryMs = Math.min(SLOWEST_PROBE_MS, this.#probeEveryMs * 2);
    }
  }

  #gone(error: unknown): void {
    const { state, emit } = this.#parts;
    const wasOnline = state.online;
    state.online = false;
    state.problem = asRobotError(error);
    state.telemetry = undefined;
    if (!wasOnline) return;
    this.#probeAtMs = 0;
    state.gains.endTrial('offline');
    emit(failure('offline', error));
  }

  /** Adopts the state of a controller. Latches it if the latch is wanted. */
  async #takeIn(): Promise<void> {
    const { state, controller, clock } = this.#parts;
    const untilMs = clock.nowMs() + TAKE_IN_MS;
    const urgency: Urgency = { priority: 'supervision', untilMs };
    state.identity = await controller.identify(urgency);
    await this.#read(untilMs);
    const excitation = await controller.excitation(urgency);
    // Only trials have a guard. A guard at first contact means that a daemon ended in the middle of a trial.
    if (this.#takenInBootId === undefined && excitation.deviation !== 0) state.endExcitation();
    state.sawExcitation(excitation);
    this.#takenInBootId = state.status?.bootId;
  }

  /**
   * Heartbeat, status, latch, excitation and telemetry. The latch comes before the heartbeat while the robot is
   * stopped, while a release is pending, and while the controller is offline.
   */
  async #read(untilMs: number): Promise<void> {
    const { state, controller } = this.#parts;
    const urgency: Urgency = { priority: 'supervision', untilMs };
    const latchFirst = state.latch.isWanted || state.latch.isReleasing || !state.online;
    const isBeatDue = this.#isBeatDue;
    if (isBeatDue && !latchFirst) await this.#beat(urgency);
    const status = await controller.status(urgency);
    await this.#parts.reconciler.mendLatch(untilMs);
    if (isBeatDue && latchFirst) await this.#beat(urgency);
    this.#beside(this.#readCapture(status));
    if (state.mode === 'debug') state.sawExcitation(await controller.excitation(urgency));
    if (this.#areReadingsDue) state.sawReadings(await controller.telemetry(untilMs));
  }

  /**
   * Whether the unit is in manual without a trial, and no listener follows its readings. Then heartbeats and readings
   * are less frequent, which leaves bus and processor to other programs, such as vision.
   */
  get #isAtRest(): boolean {
    const { state, isFollowed } = this.#parts;
    return state.mode === 'manual' && state.gains.trial === undefined && !isFollowed();
  }

  get #areReadingsDue(): boolean {
    const { telemetry, readAtMs } = this.#parts.state;
    return !this.#isAtRest || telemetry === undefined || this.#isOlder(readAtMs, READ_AT_REST_MS);
  }

  /** False also for a controller that was reset, because it has received no heartbeat since. */
  get #isTakenIn(): boolean {
    const { online, status } = this.#parts.state;
    return online && status?.bootId === this.#takenInBootId;
  }

  get #isBeatDue(): boolean {
    const { givenMs } = this.#parts.silence;
    const isPatient = givenMs === 0 || givenMs >= PATIENT_MS;
    const isRare = this.#isAtRest && isPatient && this.#isTakenIn;
    return !isRare || this.#isOlder(this.#beatAtMs, BEAT_AT_REST_MS);
  }

  #isOlder(atMs: number, ageMs: number): boolean {
    return this.#parts.clock.nowMs() - atMs >= ageMs;
  }

  async #beat(urgency: Urgency): Promise<void> {
    const { controller, silence, clock } = this.#parts;
    await controller.heartbeat(silence.givenMs, urgency);
    silence.given();
    this.#beatAtMs = clock.nowMs();
  }

  /** Reads the step capture if the status shows a new one. Rejects as the bus does. */
  async #readCapture(status: ControllerStatus): Promise<void> {
    const before = this.#captured;
    this.#captured = status;
    if (before?.bootId !== status.bootId || before.capture === status.capture) return;
    const { unit, link, clock, stepCaptured } = this.#parts;
    const urgency: Urgency = { priority: 'capture', untilMs: clock.nowMs() + CAPTURE_MS };
    await link.write(unit, REGISTERS.capture_select, { page: 0 }, urgency);
    const head = await link.read(unit, REGISTERS.capture, urgency);
    const loop = unit.loops.find(candidate => candidate.slot === head.slot);
    if (loop === undefined) return;
    const register = capturePageRegister(QUANTITIES[loop.quantity].countsPerUnit);
    const setpoint: number[] = [];
    const measured: number[] = [];
    for (let page = 0; page * CAPTURE_PAGE_SAMPLES < head.samples; page += 1) {
      await link.write(unit, REGISTERS.capture_select, { page }, urgency);
      const values: Record<string, number> = await link.read(unit, register, urgency);
      // A newer capture replaced it.
      if (values.number !== head.number || values.page !== page) return;
      for (let sample = 0; sample < CAPTURE_PAGE_SAMPLES && setpoint.length < head.samples; sample += 1) {
        setpoint.push(values[`setpoint_${sample}`] ?? 0);
        measured.push(values[`measured_${sample}`] ?? 0);
      }
    }
    const { number, rate_hz: rateHz, decimation } = head;
    stepCaptured({ unit: unit.name, loop: loop.name, number, rateHz, decimation, setpoint, measured });
  }

  /** Runs `work` beside the polls, so that no heartbeat waits for it. Its failure does not count as a missed poll. */
  #beside(work: Promise<void>): void {
    void work.catch(error => this.#parts.emit(failure('poll-failed', error)));
  }
}
