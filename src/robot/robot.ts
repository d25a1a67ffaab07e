import type { Logger } from 'pino';
import type { Clock, Timer } from '../core/clock.js';
import { isRobotError, RobotError } from '../core/errors.js';
import { Listeners } from '../core/listeners.js';
import { perUnit, type Unit, type UnitName } from '../core/units.js';
import type { Incidents } from '../events/incidents.js';
import type { GainsStore } from '../gains/gains-store.js';
import { type Hardware, isMissing } from '../hardware/ports.js';
import { Link } from '../protocol/link.js';
import { Laser, type LaserState } from './laser.js';
import type { StepCapture } from './motor-controller.js';
import { MotorUnit } from './motor-unit.js';
import type { UnitIncident, UnitSettings, UnitWatch } from './unit-watch.js';

export interface RobotSettings extends UnitSettings {
  readonly pollHz: number;
  /** 0 = no limit. */
  readonly laserMaxOnS: number;
}

export interface CapturedStep {
  readonly unit: UnitName;
  readonly capture: StepCapture;
}

/** How long a start waits for controllers to answer. */
const FIRST_LOOK_MS = 300;
const STORAGE_RETRY_MS = 5000;

/** Both units, the laser and the stop, kept under supervision. */
export class Robot {
  readonly simulated: boolean;
  readonly link: Link;
  readonly laser: Laser;
  readonly store: GainsStore;
  readonly units: Readonly<Record<UnitName, MotorUnit>>;
  /** Every supervision period: the readings of both units are as new as they get. */
  readonly polled = new Listeners<void>();
  /** Something that people look at may have changed. */
  readonly changed = new Listeners<void>();
  readonly stepped = new Listeners<CapturedStep>();
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #incidents: Incidents;
  readonly #periodMs: number;
  #stopped = false;
  /** Counts stops, so that a resume notices one that came in between. */
  #stops = 0;
  #resuming: Promise<void> | undefined;
  #closed = false;
  #storageOk = true;
  /** What kept the laser from being used at the last look. */
  #laserFault: string | undefined;
  #timer: Timer | undefined;
  #storageTriedMs = 0;

  constructor(options: {
    hardware: Hardware;
    store: GainsStore;
    clock: Clock;
    log: Logger;
    incidents: Incidents;
    settings: RobotSettings;
  }) {
    const { hardware, store, clock, log, settings } = options;
    this.#clock = clock;
    this.#log = log;
    this.#incidents = options.incidents;
    this.#periodMs = 1000 / settings.pollHz;
    this.store = store;
    this.simulated = hardware.simulated;
    this.link = new Link(hardware.bus, clock);
    this.laser = new Laser({
      hardware,
      clock,
      maxOnS: settings.laserMaxOnS,
      onChange: (before, after, reason) => {
        log.info({ before, after, reason }, 'laser');
        this.changed.tell();
      },
    });
    const watch = this.#unitWatch();
    this.units = perUnit(unit => new MotorUnit({ unit, link: this.link, clock, store, settings, watch }));
  }

  get stopped(): boolean {
    return this.#stopped;
  }

  /** Resolves when every controller that answers soon has been taken in; supervision goes on from there. */
  async start(): Promise<void> {
    const looked = Promise.all(Object.values(this.units).map(unit => unit.tick()));
    let waiting: Timer | undefined;
    const longEnough = new Promise<void>(resolve => {
      waiting = this.#clock.after(FIRST_LOOK_MS, resolve);
    });
    await Promise.race([looked, longEnough]);
    waiting?.cancel();
    this.#supervise(this.#clock.nowMs() + this.#periodMs);
  }

  /** No more supervision, and no more light: what is asked from now on comes too late. */
  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#incidents.close();
  }

  laserOn(): LaserState {
    if (this.#stopped) throw new RobotError('stopped');
    if (this.#closed) throw new RobotError('closing');
    return this.laser.on();
  }

  laserOff(): LaserState {
    return this.laser.off();
  }

  /** Laser dark first, then the latch on every online controller at once; the others get it when they appear. */
  async stop(): Promise<void> {
    const dark = this.#darken();
    this.#stops += 1;
    this.#setStopped(true, 'asked');
    let failures = await this.#latchAll();
    if (this.#resuming !== undefined) {
      // What a resume had on its way may have come after the latch: it gives up, and the latch is set once more.
      await this.#resuming.catch(() => undefined);
      failures = await this.#latchAll();
    }
    this.changed.tell();
    const failure = failures[0] ?? dark;
    if (failure !== undefined) throw failure;
  }

  /** Callers who come while a resume is under way get its end. */
  resume(): Promise<void> {
    this.#resuming ??= this.#resume().finally(() => {
      this.#resuming = undefined;
    });
    return this.#resuming;
  }

  async #resume(): Promise<void> {
    const [stops, wasStopped, online] = [this.#stops, this.#stopped, this.#online()];
    const modes = online.map(unit => unit.state.mode);
    const undisturbed = () => this.#stops === stops;
    const failures = await failuresOf(online.map(unit => unit.release(undisturbed)));
    const failure = undisturbed() ? failures[0] : new RobotError('stopped');
    if (failure !== undefined) {
      if (wasStopped || !undisturbed()) await this.#latchAll();
      else for (const [index, unit] of online.entries()) unit.wantBack(modes[index] ?? null);
      throw failure;
    }
    for (const unit of Object.values(this.units)) if (!online.includes(unit)) unit.noteMissedResume();
    this.#setStopped(false, 'asked');
  }

  #latchAll(): Promise<unknown[]> {
    return failuresOf(this.#online().map(unit => unit.latch()));
  }

  #online(): MotorUnit[] {
    return Object.values(this.units).filter(unit => unit.state.online);
  }

  #darken(): unknown {
    try {
      this.laser.off('stop');
      return undefined;
    } catch (error) {
      return isRobotError(error, 'laser-unavailable') ? undefined : error;
    }
  }

  #setStopped(stopped: boolean, why: string): void {
    if (this.#stopped === stopped) return;
    this.#stopped = stopped;
    this.#log.info({ before: !stopped, after: stopped, why }, 'stopped');
    this.changed.tell();
  }

  #supervise(atMs: number): void {
    this.#timer = this.#clock.after(Math.max(0, atMs - this.#clock.nowMs()), () => {
      for (const unit of Object.values(this.units)) void unit.tick();
      this.#watchLaser();
      this.#watchStorage();
      this.polled.tell();
      this.#supervise(Math.max(atMs + this.#periodMs, this.#clock.nowMs()));
    });
  }

  #watchLaser(): void {
    const fault = this.laser.keepDark();
    const told = fault === undefined ? undefined : String(fault);
    if (told === this.#laserFault) return;
    this.#laserFault = told;
    if (fault === undefined) this.#incidents.record('laser', 'the laser works again');
    else if (isRobotError(fault) && isMissing(fault.context)) {
      this.#incidents.record('laser', 'the laser cannot be used', fault);
    } else this.#incidents.record('laser', 'the laser pin does not obey', fault);
    this.changed.tell();
  }

  #watchStorage(): void {
    const { ok, detail, cure } = this.store.report();
    if (ok !== this.#storageOk) {
      this.#storageOk = ok;
      if (ok) this.#log.info('storage works again');
      else this.#log.error({ detail, cure }, 'storage failed');
    }
    const nowMs = this.#clock.nowMs();
    if (ok || nowMs - this.#storageTriedMs < STORAGE_RETRY_MS) return;
    this.#storageTriedMs = nowMs;
    void this.store.retry();
  }

  #unitWatch(): UnitWatch {
    const robot = this;
    const log = this.#log;
    return {
      get stopped() {
        return robot.#stopped;
      },
      get resuming() {
        return robot.#resuming !== undefined;
      },
      foundLatched(unit) {
        robot.#darken();
        robot.#stops += 1;
        robot.#setStopped(true, `${unit.name} controller found stopped`);
      },
      modeChanged(unit, before, after) {
        log.info({ unit: unit.name, before, after }, 'mode');
        robot.changed.tell();
      },
      gainsChanged(unit, before, after) {
        log.info({ unit: unit.name, before, after }, 'gains');
        robot.changed.tell();
      },
      incident(unit, what, error) {
        robot.#incident(unit, what, error);
      },
      stepCaptured(unit, capture) {
        robot.stepped.tell({ unit: unit.name, capture });
      },
    };
  }

  #incident(unit: Unit, what: UnitIncident, error: unknown): void {
    this.#incidents.record(unit.name, `controller ${what}`, error);
    if (what !== 'poll failed') this.changed.tell();
  }
}

async function failuresOf(acts: readonly Promise<unknown>[]): Promise<unknown[]> {
  const ends = await Promise.allSettled(acts);
  return ends.filter(end => end.status === 'rejected').map(end => end.reason);
}
