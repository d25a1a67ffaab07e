import type { Clock } from '../core/clock.js';
import { RobotError } from '../core/errors.js';
import type { Torque } from '../core/status.js';
import type { UnitName } from '../core/units.js';
import type { HostSilence } from './host-silence.js';
import type { Reconciler } from './reconciler.js';
import type { RequestGate } from './request-gate.js';
import { hasFlag } from './status-frame.js';
import type { UnitState } from './unit-state.js';
import type { UnitSupervision } from './unit-supervision.js';

/** One try to latch while a stop waits, and the pause before the next. */
const TRY_MS = 200;
const BETWEEN_TRIES_MS = 10;

/** One unit's part of a stop and of its end. */
export class UnitStop {
  readonly unit: UnitName;
  readonly #clock: Clock;
  readonly #silence: HostSilence;
  readonly #state: UnitState;
  readonly #gate: RequestGate;
  readonly #reconciler: Reconciler;
  readonly #supervision: UnitSupervision;

  constructor(options: {
    unit: { readonly name: UnitName };
    clock: Clock;
    silence: HostSilence;
    state: UnitState;
    gate: RequestGate;
    reconciler: Reconciler;
    supervision: UnitSupervision;
  }) {
    this.unit = options.unit.name;
    this.#clock = options.clock;
    this.#silence = options.silence;
    this.#state = options.state;
    this.#gate = options.gate;
    this.#reconciler = options.reconciler;
    this.#supervision = options.supervision;
  }

  get online(): boolean {
    return this.#supervision.online;
  }

  get torque(): Torque {
    if (this.online && this.#state.status !== undefined) {
      return hasFlag(this.#state.status, 'torque') ? 'on' : 'off';
    }
    if (this.#state.latch.holds) return 'off';
    return this.#silence.hasPassed ? 'silent' : 'unknown';
  }

  /** From now on the controller has to be latched. `confirm` makes it so. */
  begin(): void {
    this.#state.wantStop();
    this.#supervision.lookSoon();
  }

  /**
   * Resolves when the controller has confirmed its latch, or cannot have torque any more by its own silence rule. Goes
   * past everything that waits for this unit. Rejects at `untilMs`.
   */
  async confirm(untilMs: number): Promise<void> {
    let cause: unknown;
    while (!this.#cannotPush) {
      const nowMs = this.#clock.nowMs();
      if (nowMs >= untilMs)
        throw new RobotError('not-confirmed', { unit: this.unit, register: 'stop' }, { cause });
      try {
        // Nothing is written to what has never said that it is our controller.
        if (this.#supervision.identity !== undefined) {
          await this.#reconciler.latch(Math.min(untilMs, nowMs + TRY_MS));
          return;
        }
      } catch (error) {
        cause = error;
      }
      await new Promise<void>(resolve => this.#clock.after(BETWEEN_TRIES_MS, resolve));
    }
  }

  beginRelease(): void {
    this.#state.latch.beginRelease();
  }

  endRelease(): void {
    this.#state.latch.endRelease();
  }

  /** Into manual, so that nothing moves by itself when torque comes back. */
  enterManual(stillWanted: () => void): Promise<void> {
    return this.#gate.inTurn(stillWanted, async untilMs => {
      await this.#reconciler.setMode('manual', untilMs, stillWanted);
    });
  }

  unlatch(stillWanted: () => void): Promise<void> {
    return this.#gate.inTurn(stillWanted, untilMs => this.#reconciler.unlatch(untilMs, stillWanted));
  }

  /** The resume holds: `confirmed` where this controller has heard of it. */
  released(confirmed: boolean): void {
    this.#state.released(confirmed);
  }

  /** A latch seen before counts only for a controller that nobody reaches: of one that is reached, it is asked again. */
  get #cannotPush(): boolean {
    return this.#silence.hasPassed || (!this.online && this.#state.latch.holds);
  }
}
