import { type Clock, endedWithin, type Timer } from '../core/clock.js';
import type { Deadlines } from '../core/deadlines.js';
import { RobotError } from '../core/errors.js';
import { Listeners } from '../core/listeners.js';
import { Histogram } from '../core/metrics.js';
import { MAX_HOLD_MS, perUnit, type UnitName } from '../core/units.js';
import type { GainsStore } from '../gains/gains-store.js';
import type { Hardware } from '../hardware/ports.js';
import { Link } from '../protocol/link.js';
import { type DriveCommand, driveOf } from './drive.js';
import type { SilenceLimits } from './host-silence.js';
import { Laser } from './laser.js';
import { type MotorUnit, motorUnit } from './motor-unit.js';
import type { Act, Permission } from './request-gate.js';
import type { RobotEvent, StepCapture } from './robot-event.js';
import { type StopMemory, stopOf } from './stop.js';

export interface RobotSettings {
  readonly pollHz: number;
  /** The longest time that the laser stays lit; 0 = no limit. */
  readonly laserMaxOnS: number;
  /** The mode that a controller gets after it reset itself. */
  readonly onControllerReset: 'manual' | 'restore';
  readonly silence: Readonly<Record<UnitName, SilenceLimits>>;
}

interface RobotOptions {
  readonly hardware: Hardware;
  readonly store: GainsStore;
  readonly clock: Clock;
  readonly deadlines: Deadlines;
  readonly permission: Permission;
  readonly settings: RobotSettings;
  readonly stopMemory?: StopMemory | undefined;
}

/** The longest wait for the controllers when the daemon starts. */
const FIND_MS = 300;
/** When the daemon ends, it waits at most this long until the effects of refused requests are undone. */
const SETTLE_MS = 100;

/** Both units, the laser and the stop, with the timer of the polls. */
export class Robot implements Permission {
  readonly simulated: boolean;
  readonly link: Link;
  readonly laser: Laser;
  readonly store: GainsStore;
  readonly units: Readonly<Record<UnitName, MotorUnit>>;
  /**
   * Emitted when the polls of both units have ended, or one poll period after they began. Does not wait for a unit that
   * is offline, or that is still busy with an earlier poll.
   */
  readonly polled = new Listeners<void>();
  /**
   * Emitted as `polled`. While it has a listener, every poll reads the telemetry of both units. Otherwise a unit at rest is
   * read less often.
   */
  readonly followed = new Listeners<void>();
  /** Emitted when the timer of the polls runs, with the time at which it is due next. */
  readonly supervised = new Listeners<number>();
  /** Emitted when something that status shows may have changed. */
  readonly changed = new Listeners<void>();
  readonly stepped = new Listeners<StepCapture>();
  readonly events = new Listeners<RobotEvent>();
  /** How late the timer of the polls was, in seconds: the delay of the event loop. */
  readonly timerDelay = new Histogram([0.002, 0.005, 0.01, 0.02, 0.05, 0.2]);
  readonly #options: RobotOptions;
  /** In the order of their refusals. */
  readonly #permissions: Permission[];
  readonly #stop: ReturnType<typeof stopOf>;
  readonly #drive: ReturnType<typeof driveOf>;
  /** The polls that began in this poll period and have not ended. */
  #polls: ReadonlySet<Promise<void>> = new Set();
  /** Whether `polled` has not been emitted in this poll period. */
  #isEmissionDue = false;
  #closed = false;
  #timer: Timer | undefined;

  constructor(options: RobotOptions) {
    const { hardware, store, clock, deadlines, settings } = options;
    this.#options = options;
    this.#permissions = [options.permission];
    this.store = store;
    store.changed.add(() => this.changed.emit());
    this.simulated = hardware.simulated;
    this.link = new Link(hardware.bus, clock);
    this.laser = new Laser({
      hardware,
      clock,
      deadlines,
      maxOnS: settings.laserMaxOnS,
      requireAllowed: () => {
        this.require({ kind: 'light' });
        if (this.stopped) throw new RobotError('stopped');
      },
      emit: event => this.#emit(event),
    });
    this.units = perUnit(unit => {
      const { name } = unit;
      return motorUnit({
        unit,
        link: this.link,
        clock,
        deadlines,
        store,
        permission: this,
        onControllerReset: settings.onControllerReset,
        silence: settings.silence[name],
        emit: news => {
          if (news.what === 'found-latched') this.#stop.begin(`${name} controller found stopped`);
          else this.#emit({ ...news, unit: name });
        },
        isFollowed: () => this.followed.any,
        stepCaptured: capture => this.stepped.emit(capture),
      });
    });
    this.#drive = driveOf({
      units: this.units,
      clock,
      permission: this,
      isStopped: () => this.stopped,
      frameEveryMs: 1000 / settings.pollHz,
    });
    this.#stop = stopOf({
      units: Object.values(this.units),
      laser: this.laser,
      clock,
      memory: options.stopMemory,
      onChange: (stopped, why) => this.#emit({ what: stopped ? 'stop' : 'resume', detail: { why } }),
    });
  }

  get stopped(): boolean {
    this.#options.deadlines.judge();
    return this.#stop.stopped();
  }

  /** Waits until every controller is online, or for FIND_MS. Then begins to supervise. */
  async start(): Promise<void> {
    const { clock, settings, stopMemory } = this.#options;
    if (stopMemory?.wasStopped) this.#stop.begin('stopped before the restart');
    const untilMs = clock.nowMs() + FIND_MS;
    await this.#eachUnit(FIND_MS, unit => unit.find(untilMs));
    this.#supervise(clock.nowMs() + 1000 / settings.pollHz);
  }

  /** Halts what a driver moves. From now on nothing begins to move, to shine or to be tried. Gains may still be saved. */
  forbidActs(): void {
    this.#closed = true;
    for (const unit of Object.values(this.units)) unit.endDrive('end of the daemon');
  }

  /**
   * Ends supervision. Resolves when the effects of refused requests in the
   * controllers are undone, or after a short time, and when halts have ended, or after 500 ms. The next daemon adopts the
   * controllers as they are.
   */
  async close(): Promise<void> {
    this.forbidActs();
    this.#timer?.cancel();
    await this.#eachUnit(SETTLE_MS, unit => unit.settle());
    await this.#eachUnit(MAX_HOLD_MS, unit => unit.haltEnded());
  }

  /** From now on nothing happens that this permission forbids. */
  obey(permission: Permission): void {
    this.#permissions.push(permission);
  }

  /** Throws a RobotError with the reason if the act is forbidden, for example by a match. */
  require(act: Act): void {
    if (this.#closed && begins(act)) throw new RobotError('closing');
    for (const permission of this.#permissions) permission.require(act);
  }

  /** Moves units for a caller. Rejects as `driveOf` says. */
  drive(command: DriveCommand): ReturnType<ReturnType<typeof driveOf>> {
    return this.#drive(command);
  }

  stop(why?: string): Promise<void> {
    return this.#stop.stop(why);
  }

  /**
   * `stillWanted` and the rules of the match are checked again before every frame, because the phase may change and
   * the caller may hang up.
   */
  async resume(stillWanted?: () => void, sinceMs = this.#options.clock.nowMs()): Promise<void> {
    const requireWanted = () => {
      this.require({ kind: 'resume' });
      stillWanted?.();
    };
    requireWanted();
    await this.#stop.resume(requireWanted, sinceMs);
  }

  async #eachUnit(limitMs: number, act: (unit: MotorUnit) => Promise<void>): Promise<void> {
    await endedWithin(this.#options.clock, limitMs, Promise.all(Object.values(this.units).map(act)));
  }

  #supervise(atMs: number): void {
    const { clock, settings } = this.#options;
    this.supervised.emit(atMs);
    this.#timer = clock.after(atMs - clock.nowMs(), () => {
      this.timerDelay.observe(Math.max(0, clock.nowMs() - atMs) / 1000);
      if (this.#isEmissionDue) this.#emitPolled();
      this.#isEmissionDue = true;
      const polls = new Set<Promise<void>>();
      this.#polls = polls;
      for (const unit of Object.values(this.units)) {
        const poll = unit.tick();
        if (poll === undefined) continue;
        polls.add(poll);
        void poll.then(() => {
          polls.delete(poll);
          if (this.#polls.size === 0) this.#emitPolled();
        });
      }
      this.laser.poll();
      this.#supervise(Math.max(atMs + 1000 / settings.pollHz, clock.nowMs()));
    });
  }

  #emitPolled(): void {
    this.#isEmissionDue = false;
    this.polled.emit();
    this.followed.emit();
  }

  #emit(event: RobotEvent): void {
    this.events.emit(event);
    this.changed.emit();
  }
}

/** Whether the act lets something begin to move, to shine or to be tried. */
function begins(act: Act): boolean {
  if (act.kind === 'mode') return act.mode !== 'manual';
  return act.kind === 'excite' ? act.isEnd !== true : act.kind !== 'save';
}
