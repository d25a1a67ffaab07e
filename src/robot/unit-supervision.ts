import type { Clock } from '../core/clock.js';
import { asRobotError, isRobotError } from '../core/errors.js';
import type { Urgency } from '../protocol/link.js';
import type { HostSilence } from './host-silence.js';
import type { ControllerStatus, MotorController } from './motor-controller.js';
import type { Reconciler } from './reconciler.js';
import { failure } from './robot-event.js';
import { CAPTURE_MS } from './step-captures.js';
import type { UnitState } from './unit-state.js';

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
/** The register `build` is read again after this time, because its longest loop time may have grown. */
const BUILD_MS = 10_000;

interface SupervisionParts {
  readonly clock: Clock;
  readonly silence: HostSilence;
  readonly state: UnitState;
  readonly controller: MotorController;
  readonly reconciler: Reconciler;
  /** Whether a listener wants the readings of every poll. */
  readonly isFollowed: () => boolean;
  readonly readCapture: (status: ControllerStatus) => Promise<void>;
}

/**
 * Polls one motor controller while it is online, and probes it while it is offline. Lets the reconciler correct
 * differences.
 */
export function supervise(parts: SupervisionParts) {
  const { clock, controller, isFollowed, readCapture, reconciler, silence, state } = parts;
  const { emit, observed } = state;
  /** The boot id of the controller when the daemon last adopted its state. */
  let takenInBootId: number | undefined;
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
    if (observed.online) return isBusy ? undefined : alone(poll);
    if (clock.nowMs() >= probeAtMs) void probeNow();
    return undefined;
  };

  /** Probes the controller, unless it is online or a probe is still running. Never rejects. */
  const probeNow = async (): Promise<void> => {
    if (!observed.online && !isBusy) await alone(probe);
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
      observed.problem = undefined;
      observed.online = true;
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
    const wasOnline = observed.online;
    state.lost(asRobotError(error));
    if (!wasOnline) return;
    probeAtMs = 0;
    emit(failure('offline', error));
  };

  /** Adopts the state of a controller. Latches it if the latch is wanted. */
  const takeIn = async (): Promise<void> => {
    const untilMs = clock.nowMs() + TAKE_IN_MS;
    buildAtMs = Number.NEGATIVE_INFINITY;
    observed.build = undefined;
    const urgency: Urgency = { priority: 'supervision', untilMs };
    observed.identity = await controller.identify(urgency);
    await read(untilMs);
    takenInBootId = observed.status?.bootId;
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
    if (observed.mode === 'debug' || isNew) {
      const excitation = await controller.excitation(urgency);
      // Only trials have a guard. A guard at first contact means that a daemon ended in the middle of a trial.
      if (takenInBootId === undefined && excitation.deviation !== 0)
        state.endExcitation('excitation of a lost trial', {});
      state.sawExcitation(excitation);
      if (!observed.online || !observed.has('torque')) await reconciler.mendExcitation(untilMs, false);
    }
    // A stop may have come meanwhile, and may count the silence of the controller as its proof.
    if (beats && state.latch.step !== 'set') await beat(urgency);
    beside(readCapture(status));
    if (status.flags.includes('build') && isOlder(buildAtMs, BUILD_MS)) beside(readBuild());
    if (areReadingsDue()) state.sawReadings(await controller.telemetry(untilMs));
  };

  /**
   * Whether the unit is in manual without a trial or a driver, and no listener follows its readings. Then heartbeats and readings
   * are less frequent, which leaves bus and processor to other programs, such as vision.
   */
  const isAtRest = (): boolean =>
    observed.mode === 'manual' &&
    state.wanted.trial === undefined &&
    state.wanted.driver === undefined &&
    !isFollowed();

  const areReadingsDue = (): boolean => {
    const { telemetry } = observed;
    return !isAtRest() || telemetry === undefined || isOlder(telemetry.atMs, READ_AT_REST_MS);
  };

  /**
   * Whether the controller is online and was not reset since the daemon adopted its state. A controller that was
   * reset has received no heartbeat since.
   */
  const isTakenIn = (): boolean => {
    const { online, status } = observed;
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
    observed.build = await controller.build({ priority: 'capture', untilMs: buildAtMs + CAPTURE_MS });
  };

  /** Runs `work` beside the polls, so that no heartbeat waits for it. */
  const beside = (work: Promise<void>): void => {
    void work.catch(error => emit(failure('work-failed', error)));
  };
  return { probeNow, probeSoon, tick };
}
