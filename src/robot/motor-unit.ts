import type { Clock } from '../core/clock.js';
import { RobotError } from '../core/errors.js';
import type { Excitation, GainSet, Mode, Unit } from '../core/units.js';
import type { GainsStore, SavedGains } from '../gains/gains-store.js';
import type { Link } from '../protocol/link.js';
import { MotorController } from './motor-controller.js';
import { REQUEST_MS, Supervision } from './supervision.js';
import type { UnitSettings, UnitState, UnitWatch } from './unit-watch.js';

/** One unit as callers ask of it. What resolves has been confirmed; what rejects has changed nothing, or is undone. */
export class MotorUnit {
  readonly unit: Unit;
  readonly #controller: MotorController;
  readonly #supervision: Supervision;
  readonly #clock: Clock;
  readonly #store: GainsStore;
  readonly #watch: UnitWatch;

  constructor(options: {
    unit: Unit;
    link: Link;
    clock: Clock;
    store: GainsStore;
    settings: UnitSettings;
    watch: UnitWatch;
  }) {
    this.unit = options.unit;
    this.#clock = options.clock;
    this.#store = options.store;
    this.#watch = options.watch;
    this.#controller = new MotorController(options.unit, options.link, options.clock);
    this.#supervision = new Supervision({ ...options, controller: this.#controller });
  }

  get state(): UnitState {
    return this.#supervision.state;
  }

  get telemetry(): Readonly<Record<string, number>> | undefined {
    return this.#supervision.telemetry;
  }

  tick(): Promise<void> {
    return this.#supervision.tick();
  }

  setMode(mode: Mode): Promise<void> {
    return this.#whileMoving(async untilMs => {
      const before = this.state.mode;
      try {
        await this.#controller.setMode(mode, untilMs);
      } catch (error) {
        if (before !== null) this.#supervision.undo.mode = before;
        throw error;
      }
      delete this.#supervision.undo.mode;
      this.#supervision.modeIs(mode);
    });
  }

  /** Goes past everything that waits for this unit. */
  async latch(): Promise<void> {
    this.#supervision.requireOnline();
    await this.#controller.setLatch(true, this.#clock.nowMs() + REQUEST_MS);
  }

  /** Into `manual`, then the end of the latch, unless a stop comes between. */
  release(stillWanted: () => boolean): Promise<void> {
    return this.#supervision.request(untilMs => this.#supervision.release(untilMs, stillWanted));
  }

  /** After a resume that failed elsewhere: back to the mode it had. */
  wantBack(mode: Mode | null): void {
    if (mode !== null && mode !== this.state.mode) this.#supervision.undo.mode = mode;
  }

  /** A resume that this controller cannot hear now reaches it when it appears. */
  noteMissedResume(): void {
    this.#supervision.missedResume = true;
  }

  excitation(): Promise<Excitation> {
    return this.#supervision.request(untilMs => this.#controller.excitation(untilMs));
  }

  excite(excitation: Excitation): Promise<Excitation> {
    return this.#whileMoving(async untilMs => {
      const { mode } = this.state;
      if (mode !== 'debug') throw new RobotError('wrong-mode', { unit: this.unit.name, mode });
      const before = await this.#controller.excitation(untilMs);
      try {
        await this.#controller.excite(excitation, untilMs);
        return await this.#controller.excitation(untilMs);
      } catch (error) {
        this.#supervision.undo.excitation = before;
        throw error;
      }
    });
  }

  /** Resolves when the gains are active in the controller and on the disk. The next save may stage meanwhile. */
  async save(gains: GainSet): Promise<SavedGains> {
    const before = this.#store.current(this.unit.name);
    try {
      const { saved } = await this.#supervision.request(async untilMs => {
        await this.#supervision.applyGains(gains, untilMs);
        return { saved: this.#journal(gains) };
      });
      const after = await saved;
      this.#watch.gainsChanged(this.unit, before, after);
      return after;
    } catch (error) {
      if (this.state.online) await this.#supervision.backToJournal();
      throw error;
    }
  }

  /** A stop may come while the request waits for its turn. */
  async #whileMoving<T>(act: (untilMs: number) => Promise<T>): Promise<T> {
    const requireMoving = () => {
      if (this.#watch.stopped) throw new RobotError('stopped');
    };
    requireMoving();
    return this.#supervision.request(async untilMs => {
      requireMoving();
      return act(untilMs);
    });
  }

  async #journal(gains: GainSet): Promise<SavedGains> {
    this.#supervision.unconfirmedSaves += 1;
    try {
      return await this.#store.save(this.unit.name, gains);
    } finally {
      this.#supervision.unconfirmedSaves -= 1;
    }
  }
}
