import type { Clock } from '../core/clock.js';
import { isRobotError, RobotError } from '../core/errors.js';
import type { Excitation, GainSet, Mode, Unit } from '../core/units.js';
import type { GainsStore } from '../gains/gains-store.js';
import { bitNames, gainsChecksum } from '../protocol/codec.js';
import { FAULTS, FLAGS } from '../protocol/registers.js';
import {
  type Identity,
  isLatched,
  type MotorController,
  modeOf,
  type StatusFrame,
} from './motor-controller.js';
import { StepReader } from './step-reader.js';
import { Turns } from './turns.js';
import type { UnitSettings, UnitState, UnitWatch } from './unit-watch.js';

/** From a request's arrival until the bus has done its part of it; a caller hears within a second. */
export const REQUEST_MS = 350;
const POLL_MS = 100;
/** Failed polls in a row before a controller counts as gone. */
const MISSED_POLLS = 3;
const FIRST_PROBE_MS = 100;
const SLOWEST_PROBE_MS = 1000;

/** Finds one motor controller, keeps it company, notices what became of it and corrects it. */
export class Supervision {
  /** What a failed request may have left changed, with the value to go back to. */
  undo: { mode?: Mode; excitation?: Excitation } = {};
  /** Saves that the controller runs already and the disk has not confirmed yet. */
  unconfirmedSaves = 0;
  /** A resume was given that this controller could not hear. */
  missedResume = false;
  readonly #unit: Unit;
  readonly #controller: MotorController;
  readonly #clock: Clock;
  readonly #store: GainsStore;
  readonly #settings: UnitSettings;
  readonly #watch: UnitWatch;
  readonly #turns: Turns;
  readonly #steps: StepReader;
  #identity: Identity | undefined;
  #status: StatusFrame | undefined;
  #mode: Mode | null = null;
  #telemetry: Readonly<Record<string, number>> | undefined;
  #online = false;
  #problem: RobotError | undefined;
  #ticking = false;
  #missed = 0;
  #probeEveryMs = FIRST_PROBE_MS;
  #probeAtMs = 0;

  constructor(options: {
    unit: Unit;
    controller: MotorController;
    clock: Clock;
    store: GainsStore;
    settings: UnitSettings;
    watch: UnitWatch;
  }) {
    this.#unit = options.unit;
    this.#controller = options.controller;
    this.#clock = options.clock;
    this.#store = options.store;
    this.#settings = options.settings;
    this.#watch = options.watch;
    this.#turns = new Turns(options.clock, options.unit.name);
    this.#steps = new StepReader(options.controller, options.clock);
  }

  get state(): UnitState {
    const status = this.#online ? this.#status : undefined;
    return {
      online: this.#online,
      mode: this.#mode,
      faults: bitNames(FAULTS, status?.faults ?? 0),
      flags: bitNames(FLAGS, status?.flags ?? 0),
      identity: this.#identity,
      applied: status !== undefined && status.active_checksum === this.#journalChecksum(),
      problem: this.#problem,
    };
  }

  /** Newest by field name; undefined while offline. */
  get telemetry(): Readonly<Record<string, number>> | undefined {
    return this.#online ? this.#telemetry : undefined;
  }

  /** One step. Never rejects; does nothing while the step before is still under way. */
  async tick(): Promise<void> {
    if (this.#ticking) return;
    this.#ticking = true;
    try {
      if (this.#online) await this.#poll();
      else if (this.#clock.nowMs() >= this.#probeAtMs) await this.#probe();
    } finally {
      this.#ticking = false;
    }
  }

  requireOnline(): void {
    if (this.#online) return;
    throw new RobotError('unit-offline', { unit: this.#unit.name }, { cause: this.#problem });
  }

  /** One request at a time talks to the controller; `untilMs` is its deadline. */
  async request<T>(act: (untilMs: number) => Promise<T>): Promise<T> {
    this.requireOnline();
    const untilMs = this.#clock.nowMs() + REQUEST_MS;
    return this.#turns.take(untilMs, () => act(untilMs));
  }

  modeIs(mode: Mode): void {
    const before = this.#mode;
    this.#mode = mode;
    if (before !== mode) this.#watch.modeChanged(this.#unit, before, mode);
  }

  async applyGains(gains: GainSet, untilMs: number): Promise<void> {
    await this.#controller.applyGains(gains, untilMs);
    if (this.#status === undefined) return;
    this.#status = { ...this.#status, active_checksum: gainsChecksum(this.#unit, gains) };
  }

  /** Into `manual` first, so that nothing moves by itself when torque comes back. */
  async release(untilMs: number, stillWanted: () => boolean): Promise<void> {
    await this.#controller.setMode('manual', untilMs);
    this.modeIs('manual');
    this.undo = {};
    await this.#controller.setLatch(false, untilMs, stillWanted);
  }

  /** The journal is the only truth: the controller goes back to it, now if it can, else at a later poll. */
  async backToJournal(): Promise<void> {
    const untilMs = this.#clock.nowMs() + POLL_MS;
    const mended = this.#turns.take(untilMs, async () => {
      if (this.unconfirmedSaves > 0) return;
      await this.applyGains(this.#store.current(this.#unit.name).gains, untilMs);
    });
    await mended.catch(() => undefined);
  }

  async #poll(): Promise<void> {
    const untilMs = this.#clock.nowMs() + POLL_MS;
    const urgency = { priority: 'telemetry', untilMs } as const;
    try {
      await this.#controller.heartbeat(this.#settings.hostSilenceMs, urgency);
      const status = await this.#controller.status(urgency);
      if (status.boot_id === this.#status?.boot_id) {
        this.#see(status);
        await this.#correct(status, untilMs);
        this.#telemetry = await this.#controller.telemetry(urgency);
      } else {
        this.#watch.incident(this.#unit, 'reset');
        await this.#adopt();
      }
      this.#missed = 0;
    } catch (error) {
      this.#missed += 1;
      this.#watch.incident(this.#unit, 'poll failed', error);
      if (this.#missed >= MISSED_POLLS) this.#gone(error);
    }
  }

  async #probe(): Promise<void> {
    try {
      await this.#adopt();
      this.#probeEveryMs = FIRST_PROBE_MS;
      this.#missed = 0;
      this.#problem = undefined;
      this.#online = true;
      this.#watch.incident(this.#unit, 'online');
    } catch (error) {
      this.#gone(error);
      this.#watch.incident(this.#unit, 'not found', error);
      this.#probeAtMs = this.#clock.nowMs() + this.#probeEveryMs;
      this.#probeEveryMs = Math.min(SLOWEST_PROBE_MS, this.#probeEveryMs * 2);
    }
  }

  #gone(error: unknown): void {
    this.#problem = isRobotError(error) ? error : new RobotError('internal', {}, { cause: error });
    if (!this.#online) return;
    this.#online = false;
    this.#probeAtMs = 0;
    this.#watch.incident(this.#unit, 'offline', error);
  }

  /** Takes a controller in as it stands, and gives it the latch and the gains that it has to have. */
  async #adopt(): Promise<void> {
    const untilMs = this.#clock.nowMs() + REQUEST_MS;
    const urgency = { priority: 'gains', untilMs } as const;
    this.#identity = await this.#controller.identify(urgency);
    await this.#controller.heartbeat(this.#settings.hostSilenceMs, urgency);
    const status = await this.#controller.status(urgency);
    if (this.#status !== undefined && this.#status.boot_id !== status.boot_id) this.#forgetBeforeReset();
    this.#see(status);
    await this.#correct(status, untilMs);
    this.#telemetry = await this.#controller.telemetry(urgency);
  }

  #forgetBeforeReset(): void {
    const restores = this.#settings.onControllerReset === 'restore' && !this.#watch.stopped;
    this.undo = restores && this.#mode !== null ? { mode: this.#mode } : {};
    this.#steps.forget();
  }

  #see(status: StatusFrame): void {
    this.#status = status;
    this.modeIs(modeOf(status.mode));
    void this.#readStep(status.capture);
  }

  async #correct(status: StatusFrame, untilMs: number): Promise<void> {
    await this.#correctLatch(isLatched(status), untilMs);
    const { mode, excitation } = this.undo;
    const wrong = mode !== undefined || excitation !== undefined || this.#hasOtherGains();
    if (!wrong || !this.#turns.idle || this.unconfirmedSaves > 0) return;
    await this.#turns.take(untilMs, async () => {
      if (this.#hasOtherGains()) {
        await this.applyGains(this.#store.current(this.#unit.name).gains, untilMs);
        this.#watch.incident(this.#unit, 'gains applied');
      }
      if (mode !== undefined) await this.#controller.setMode(mode, untilMs);
      if (mode !== undefined) this.modeIs(mode);
      if (excitation !== undefined) await this.#controller.excite(excitation, untilMs);
      this.undo = {};
    });
  }

  async #correctLatch(latched: boolean, untilMs: number): Promise<void> {
    if (this.#watch.resuming) return;
    const isStopped = () => this.#watch.stopped && !this.#watch.resuming;
    if (isStopped()) {
      // Before the wait: a resume that comes during it is a new one.
      this.missedResume = false;
      if (!latched) await this.#controller.setLatch(true, untilMs, isStopped);
    } else if (this.missedResume) {
      await this.release(untilMs, () => !this.#watch.stopped);
      this.missedResume = false;
    } else if (latched) this.#watch.foundLatched(this.#unit);
  }

  async #readStep(number: number): Promise<void> {
    try {
      const capture = await this.#steps.read(number);
      if (capture !== undefined) this.#watch.stepCaptured(this.#unit, capture);
    } catch (error) {
      this.#watch.incident(this.#unit, 'poll failed', error);
    }
  }

  #hasOtherGains(): boolean {
    const checksum = this.#journalChecksum();
    return checksum !== undefined && this.#status?.active_checksum !== checksum;
  }

  /** Undefined while the journal cannot be read: then the controller keeps what it has. */
  #journalChecksum(): number | undefined {
    try {
      return gainsChecksum(this.#unit, this.#store.current(this.#unit.name).gains);
    } catch {
      return undefined;
    }
  }
}
