import type { Clock } from '../core/clock.js';
import { RobotError } from '../core/errors.js';
import type { UnitName } from '../core/units.js';
import type { Torque } from '../schemas/status.js';
import type { HostSilence } from './host-silence.js';
import type { Reconciler } from './reconciler.js';
import type { RequestGate } from './request-gate.js';
import { hasFlag } from './status-frame.js';
import type { UnitState } from './unit-state.js';
import type { UnitSupervision } from './unit-supervision.js';

/** How long one try to latch takes at most while a stop waits, and the pause before the next. */
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

  /** Whether the controller can say of itself, also after a restart of the daemon, that it is stopped. */
  get isLatched(): boolean {
    return this.online && this.#state.latch.holds;
  }

  get torque(): Torque {
    if (this.online && this.#state.status !== undefined) {
      return hasFlag(this.#state.status, 'torque') ? 'on' : 'off';
    }
    if (this.#state.latch.holds) return 'off';
    return this.#silence.hasPassed ? 'silent' : 'unknown';
  }

  /** From now on the controller has to be latched; `confirm` waits until it is. */
  begin(): void {
    this.#state.wantStop();
    this.#supervision.lookSoon();
  }

  /**
   * Resolves when the controller has confirmed its latch, or must have taken torque off because it heard no heartbeat.
   * Does not wait for the unit's turn. Rejects at `untilMs`.
   */
  async confirm(untilMs: number): Promise<void> {
    let cause: unknown;
    while (!this.#isWithoutTorque) {
      const nowMs = this.#clock.nowMs();
      if (nowMs >= untilMs)
        throw new RobotError('not-confirmed', { unit: this.unit, register: 'stop' }, { cause });
      try {
        // Nothing is written at an address that never answered as our controller.
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

  /** Puts the unit into manual, so that nothing moves by itself when torque comes back. */
  enterManual(stillWanted: () => void): Promise<void> {
    return this.#gate.inTurn(stillWanted, async untilMs => {
      await this.#reconciler.setMode('manual', untilMs, stillWanted);
    });
  }

  unlatch(stillWanted: () => void): Promise<void> {
    return this.#gate.inTurn(stillWanted, untilMs => this.#reconciler.unlatch(untilMs, stillWanted));
  }

  /** The resume was answered 200. `confirmed` is true where this controller has been released already. */
  released(confirmed: boolean): void {
    this.#state.released(confirmed);
  }

  /**
   * Whether the controller cannot have torque. A latch that was seen earlier counts only while the controller is
   * offline; an online one has to confirm it again.
   */
  get #isWithoutTorque(): boolean {
    return this.#silence.hasPassed || (!this.online && this.#state.latch.holds);
  }
}
