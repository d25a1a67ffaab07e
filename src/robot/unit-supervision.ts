import { asRobotError, isRobotError } from '../core/errors.js';
import { QUANTITIES } from '../core/units.js';
import type { Urgency } from '../protocol/link.js';
import { CAPTURE_PAGE_SAMPLES, capturePageRegister, REGISTERS } from '../protocol/registers.js';
import type { ControllerStatus } from './motor-controller.js';
import type { UnitParts } from './reconciler.js';
import { failure } from './robot-event.js';

const POLL_MS = 100;
const TAKE_IN_MS = 350;
/** The readings of a resting unit are read again at this age: at every fifth poll at 50 Hz. */
const READ_AT_REST_MS = 90;
/**
 * A resting unit gets the next heartbeat after this pause: at every third poll at 50 Hz. The pause never exceeds 100
 * ms or one poll period, whichever is longer.
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
/** The register `build` is read again after this time, because its longest loop time may have grown. */
const BUILD_MS = 10_000;

/**
 * Polls one motor controller while it is online, and probes it while it is offline. Lets the reconciler correct
 * differences.
 */
export function supervise(parts: UnitParts) {
  const { clock, controller, emit, isFollowed, link, reconciler, silence, state, stepCaptured, unit } = parts;
  /** The boot id of the controller when the daemon last adopted its state. */
  let takenInBootId: number | undefined;
  /**
   * The latest status. It names the newest step capture. Capture numbers restart with the controller, so boot
   * ids are compared as well.
   */
  let captured: ControllerStatus | undefined;
  let beatAtMs = 0;
  let buildAtMs = Number.NEGATIVE_INFINITY;
  /** Whether a poll or a probe is running. */
  let isBusy = false;
  let missed = 0;
  let probeEveryMs = FIRST_PROBE_MS;
  let probeAtMs = 0;

  /** Probes an offline controller at the next tick, even if the pause between probes is longer. */
  const probeSoon = (): void => {
    probeAtMs = 0;
    probeEveryMs = FIRST_PROBE_MS;
  };

  /**
   * Begins a poll, or a probe if one is due. Does nothing while the previous one is still running. Returns the poll. It
   * never rejects.
   */
  const tick = (): Promise<void> | undefined => {
    if (state.online) return isBusy ? undefined : alone(poll);
    if (clock.nowMs() >= probeAtMs) void probeNow();
    return undefined;
  };

  /** Probes the controller, unless it is online or a probe is still running. Never rejects. */
  const probeNow = async (): Promise<void> => {
    if (!state.online && !isBusy) await alone(probe);
  };

  const alone = async (work: () => Promise<void>): Promise<void> => {
    isBusy = true;
    await work();
    isBusy = false;
  };

  const poll = async (): Promise<void> => {
    try {
      await read(clock.nowMs() + POLL_MS);
      if (!isTakenIn()) await takeIn();
      missed = 0;
      beside(reconciler.mendInLine());
    } catch (error) {
      missed += 1;
      emit(failure('poll-failed', error));
      if (missed >= MISSED_POLLS) gone(error);
    }
  };

  const probe = async (): Promise<void> => {
    try {
      await takeIn();
      await reconciler.mendInLine();
      probeEveryMs = FIRST_PROBE_MS;
      missed = 0;
      state.problem = undefined;
      state.online = true;
      emit({ what: 'online' });
    } catch (error) {
      gone(error);
      emit(failure('not-found', error));
      // A stop that came during the probe has not reached the controller yet, so the next probe comes at
      // once.
      if (isRobotError(error, 'stopped')) probeSoon();
      else probeAtMs = clock.nowMs() + probeEveryMs;
      probeEveryMs = Math.min(SLOWEST_PROBE_MS, probeEveryMs * 2);
    }
  };

  const gone = (error: unknown): void => {
    const wasOnline = state.online;
    state.lost(asRobotError(error));
    if (!wasOnline) return;
    probeAtMs = 0;
    emit(failure('offline', error));
  };

  /** Adopts the state of a controller. Latches it if the latch is wanted. */
  const takeIn = async (): Promise<void> => {
    const untilMs = clock.nowMs() + TAKE_IN_MS;
    buildAtMs = Number.NEGATIVE_INFINITY;
    state.build = undefined;
    const urgency: Urgency = { priority: 'supervision', untilMs };
    state.identity = await controller.identify(urgency);
    await read(untilMs);
    takenInBootId = state.status?.bootId;
  };

  /**
   * Reads status, excitation and telemetry, corrects the latch, and writes the heartbeat. A heartbeat may give torque
   * back, so the latch and the end of an excitation come before it.
   */
  const read = async (untilMs: number): Promise<void> => {
    const urgency: Urgency = { priority: 'supervision', untilMs };
    const beats = isBeatDue();
    const isNew = !isTakenIn();
    const status = await controller.status(urgency);
    await reconciler.mendLatch(untilMs);
    if (state.mode === 'debug' || isNew) {
      const excitation = await controller.excitation(urgency);
      // Only trials have a guard. A guard at first contact means that a daemon ended in the middle of a trial.
      if (takenInBootId === undefined && excitation.deviation !== 0) state.endExcitation();
      state.sawExcitation(excitation);
      if (!state.online || !state.hasTorque) await reconciler.mendExcitation(untilMs, false);
    }
    if (beats) await beat(urgency);
    beside(readCapture(status));
    if (status.flags.includes('build') && isOlder(buildAtMs, BUILD_MS)) beside(readBuild());
    if (areReadingsDue()) state.sawReadings(await controller.telemetry(untilMs));
  };

  /**
   * Whether the unit is in manual without a trial or a driver, and no listener follows its readings. Then heartbeats and readings
   * are less frequent, which leaves bus and processor to other programs, such as vision.
   */
  const isAtRest = (): boolean =>
    state.mode === 'manual' &&
    state.gains.trial === undefined &&
    state.driver.current === undefined &&
    !isFollowed();

  const areReadingsDue = (): boolean => {
    const { telemetry } = state;
    return !isAtRest() || telemetry === undefined || isOlder(telemetry.atMs, READ_AT_REST_MS);
  };

  /**
   * Whether the controller is online and was not reset since the daemon adopted its state. A controller that was
   * reset has received no heartbeat since.
   */
  const isTakenIn = (): boolean => {
    const { online, status } = state;
    return online && status?.bootId === takenInBootId;
  };

  const isBeatDue = (): boolean => {
    const { givenMs } = silence;
    const isPatient = givenMs === 0 || givenMs >= PATIENT_MS;
    const isRare = isAtRest() && isPatient && isTakenIn();
    return !isRare || isOlder(beatAtMs, BEAT_AT_REST_MS);
  };

  const isOlder = (atMs: number, ageMs: number): boolean => clock.nowMs() - atMs >= ageMs;

  const beat = async (urgency: Urgency): Promise<void> => {
    await controller.heartbeat(silence.givenMs, urgency);
    silence.given();
    beatAtMs = clock.nowMs();
  };

  const readBuild = async (): Promise<void> => {
    buildAtMs = clock.nowMs();
    state.build = await controller.build({ priority: 'capture', untilMs: buildAtMs + CAPTURE_MS });
  };

  /** Reads the step capture if the status shows a new one. Rejects if the bus fails. */
  const readCapture = async (status: ControllerStatus): Promise<void> => {
    const before = captured;
    captured = status;
    if (before?.bootId !== status.bootId || before.capture === status.capture) return;
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
      // A newer capture has replaced this one.
      if (values.number !== head.number || values.page !== page) return;
      for (let sample = 0; sample < CAPTURE_PAGE_SAMPLES && setpoint.length < head.samples; sample += 1) {
        setpoint.push(values[`setpoint_${sample}`] ?? 0);
        measured.push(values[`measured_${sample}`] ?? 0);
      }
    }
    const { number, rate_hz: rateHz, decimation } = head;
    stepCaptured({ unit: unit.name, loop: loop.name, number, rateHz, decimation, setpoint, measured });
  };

  /** Runs `work` beside the polls, so that no heartbeat waits for it. Its failure does not count as a missed poll. */
  const beside = (work: Promise<void>): void => {
    void work.catch(error => emit(failure('poll-failed', error)));
  };
  return { probeNow, probeSoon, tick };
}
