import { perUnit, UNIT_LIST, type UnitName } from '../../src/core/units.js';
import { type Asked, isPost } from './asked.js';
import { promise } from './broken-promise.js';
import { Candidates } from './candidates.js';
import type { Frame } from './timed-bus.js';
import type { Truth } from './truth.js';

const SILENCE_AT_START_MS = 500;

/** The heartbeats that were written to one controller. */
interface Beats {
  lastMs: number;
  /** The longest host silence that the controller was given since its latch was last seen. */
  largestSilenceMs: number;
  /** The host silence that the running daemon gave; undefined before its first heartbeat. */
  silenceMs: number | undefined;
}

/**
 * Checks what a stop promises. Once a stop is answered 200, every controller is latched, and no unit has torque until
 * a caller sends a resume. A unit that gets torque again is in manual mode.
 */
export class StopModel {
  stopped = new Candidates<boolean>(false);
  readonly #beats: Record<UnitName, Beats> = perUnit(() => ({
    lastMs: Number.NEGATIVE_INFINITY,
    largestSilenceMs: SILENCE_AT_START_MS,
    silenceMs: undefined,
  }));
  /** Units that have had no torque since a stop was confirmed. */
  readonly #still = new Set<UnitName>();
  /** True if a resume was sent since a stop was confirmed. */
  #mayRelease = false;
  /** Resumes in flight. */
  readonly #resumes = new Set<Asked>();
  #endedSinceSettle = false;
  /** The event numbers of the last stop that was answered, and of the last resume that was answered or lost. */
  #since = 0;
  #released = 0;
  /**
   * True if the disk or the power has failed since the robot last settled. The latches may then be the only record of a
   * stop.
   */
  #mayBeUnrecorded = false;

  /**
   * A reset may clear this controller's latch. If the daemon has restarted, the latches may have been the only record
   * of a stop, so the robot may be stopped or not.
   */
  reset(unit: UnitName, at: number): void {
    if (!this.#endedSinceSettle) return;
    this.#still.delete(unit);
    for (const value of [true, false]) this.stopped.maybe(value, at, at);
  }

  wrote({ unit, register, values }: Frame, nowMs: number): void {
    if (register !== 'heartbeat') return;
    const beats = this.#beats[unit];
    const silenceMs = values.silence_ms === 0 ? Number.POSITIVE_INFINITY : (values.silence_ms ?? 0);
    beats.lastMs = nowMs;
    beats.silenceMs = silenceMs;
    beats.largestSilenceMs = Math.max(beats.largestSilenceMs, silenceMs);
  }

  watch(truth: Truth): void {
    for (const { name } of UNIT_LIST) {
      const { latched, torque, mode } = truth.units[name];
      if (latched) this.#beats[name].largestSilenceMs = 0;
      if (!torque || !this.#still.has(name)) continue;
      const may = this.#mayRelease && mode === 'manual';
      promise(may, 'torque while stopped', () => `${name} has torque in ${mode}`);
      this.#still.delete(name);
    }
  }

  sent(asked: Asked): void {
    const switched = UNIT_LIST.find(({ name }) => isPost(asked, `/api/${name}/mode/switch`));
    // A silent unit may be switched to another mode before a heartbeat gives it torque again.
    if (switched !== undefined && this.#mayRelease && this.#resumes.size === 0)
      this.#still.delete(switched.name);
    if (!isPost(asked, '/api/resume')) return;
    this.#resumes.add(asked);
    this.#mayRelease = true;
  }

  answered(asked: Asked, truth: Truth, nowMs: number): void {
    if (asked.answer === undefined) return;
    const { status, body, at } = asked.answer;
    if (isPost(asked, '/api/stop')) {
      if (status === 503 && body?.code === 'closing') this.stopped.maybe(true, asked.sent, at);
      else this.fell(at);
      if (status === 200) this.confirmed(truth, nowMs);
    } else if (isPost(asked, '/api/resume')) {
      this.#resumes.delete(asked);
      this.#released = at;
      if (status === 200) this.stopped.sure(false, at, at);
    }
  }

  /** The robot is stopped from this event on. */
  fell(at: number): void {
    this.stopped.sure(true, at, at);
    this.#since = at;
  }

  /** True if a resume was answered or lost after event `at`. */
  resumedSince(at: number): boolean {
    return this.#released > at;
  }

  diskFails(): void {
    this.#mayBeUnrecorded = true;
  }

  abandoned(asked: Asked, at: number): void {
    if (isPost(asked, '/api/stop')) this.stopped.maybe(true, asked.sent, Number.POSITIVE_INFINITY);
    // The caller hung up, but the resume may still take effect.
    if (isPost(asked, '/api/resume')) {
      this.#resumes.delete(asked);
      this.stopped.maybe(false, asked.sent, Number.POSITIVE_INFINITY);
      this.#released = at;
    }
  }

  ended(
    outstanding: readonly Asked[],
    truth: Truth,
    { isCut, inTrouble }: { isCut: boolean; inTrouble: boolean },
    at: number,
  ): void {
    const latched = UNIT_LIST.filter(({ name }) => truth.units[name].latched);
    const asks = outstanding.some(asked => isPost(asked, '/api/stop') || isPost(asked, '/api/resume'));
    // The next daemon starts stopped if stop.json records a stop, or if a latched controller answers. It ignores the
    // record after a power cut. Because of a fault, the disk may still have the record of an ended stop.
    const isOnRecord = !isCut && this.stopped.must(true);
    const mayStay = inTrouble || this.stopped.can(true);
    this.stopped.sure(isOnRecord || latched.length > 0, at, at);
    if (mayStay) this.stopped.maybe(true, at, at);
    // Later daemons ignore the record too, until one has heard a controller.
    if (isCut) this.#mayBeUnrecorded = true;
    if (this.#mayBeUnrecorded) this.stopped.maybe(false, at, at);
    if (asks) for (const value of [true, false]) this.stopped.maybe(value, at, at);
    for (const { name } of UNIT_LIST) {
      if (!truth.units[name].latched) this.#still.delete(name);
      this.#endedBeats(this.#beats[name]);
    }
    this.#resumes.clear();
    this.#endedSinceSettle = true;
  }

  /** `mayHaveStopped`: the robot may have stopped without a caller since it last settled. */
  judgeSettled(truth: Truth, shown: boolean, mayHaveStopped: boolean): void {
    for (const { name } of UNIT_LIST) {
      const { latched } = truth.units[name];
      promise(
        latched === shown,
        'latch',
        () => `stopped is ${shown}, the latch of the ${name} is ${latched}`,
      );
    }
    const may = (shown && mayHaveStopped) || this.stopped.can(shown);
    promise(may, 'stopped', () => `stopped is ${shown}, not ${this.stopped.values}`);
  }

  adopt(stopped: boolean): void {
    this.stopped = new Candidates(stopped);
    this.#endedSinceSettle = false;
    this.#mayBeUnrecorded = false;
  }

  /** True if the robot was stopped before event `sent`, and has been since. */
  surelyStoppedSince(sent: number): boolean {
    return this.#resumes.size === 0 && this.#released < sent && this.stopped.must(true) && this.#since < sent;
  }

  /**
   * Call this when a daemon ends. If it wrote a heartbeat with its host silence, the controller may have taken this
   * silence. The next daemon may then count a silent controller as stopped after this time.
   */
  #endedBeats(beats: Beats): void {
    const { silenceMs, largestSilenceMs } = beats;
    if (silenceMs !== undefined)
      beats.largestSilenceMs = Math.min(largestSilenceMs, Math.max(silenceMs, SILENCE_AT_START_MS));
    beats.silenceMs = undefined;
  }

  confirmed(truth: Truth, nowMs: number): void {
    for (const { name } of UNIT_LIST) {
      const { latched, torque, gains } = truth.units[name];
      const { lastMs, largestSilenceMs } = this.#beats[name];
      const silentMs = nowMs - lastMs;
      if (this.#resumes.size > 0) continue;
      promise(
        // A controller that was reset has no torque before it gets gains.
        latched || gains === undefined || silentMs > largestSilenceMs,
        'stop confirmed',
        () =>
          `200, but the ${name} is not latched, and silent for ${silentMs} of ${largestSilenceMs} ms` +
          `${torque ? ', with torque' : ''}`,
      );
      this.#still.add(name);
      this.#mayRelease = false;
    }
  }
}
