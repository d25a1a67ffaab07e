import { RobotError } from '../core/errors.js';
import type { GainSet, Mode } from '../core/units.js';
import type { UnitParts } from './unit-parts.js';
import type { GuardedExcitation } from './wanted-motion.js';

/** Longer than any request may wait, so that a mending gets its turn behind the requests that came before it. */
const TURN_MS = 1000;
/** What a mending takes in its turn on a bus of 100 kHz that callers keep busy, and some more. */
const MEND_MS = 250;
/** A refused caller waits at most this long until the effects of the request are taken back. Polls try again. */
const SETTLE_MS = 100;

/** Brings a controller to what is wanted of it. Each step is confirmed by what the controller shows afterwards. */
export class Reconciler {
  readonly #parts: UnitParts;
  #isMending = false;

  constructor(parts: UnitParts) {
    this.#parts = parts;
  }

  /** `stillWanted` is called before every write, and throws when a reset or another request came between. */
  async setMode(mode: Mode, untilMs: number, stillWanted: () => void): Promise<void> {
    const { state, controller } = this.#parts;
    const { modeFrames, mode: shown } = state;
    const { unsettled } = modeFrames;
    // The mode in force needs no frame, which would make the next switch wait for its effect.
    if (shown === mode && !unsettled) {
      await controller.status({ priority: 'mode', untilMs });
      if (state.mode === mode && !modeFrames.unsettled) return;
    }
    // A controller that enters debug mode ends its excitation. That must not count as its own choice.
    state.excitationFrames.disturb();
    await modeFrames.during(
      async () => (await controller.setMode(mode, untilMs, unsettled, stillWanted)) === 1 && mode !== shown,
    );
  }

  /** Rejects with the code `overtaken` if a resume has begun or the latch is not wanted any more. */
  latch(untilMs: number, overtaken: 'not-confirmed' | 'stopped' = 'not-confirmed'): Promise<void> {
    const { state, controller } = this.#parts;
    const { latch } = state;
    const { unsettled } = latch.frames;
    const stillWanted = () => {
      if (!latch.isWanted || latch.isReleasing) throw new RobotError(overtaken);
    };
    return latch.frames.during(() => controller.setLatch(true, untilMs, unsettled, stillWanted));
  }

  unlatch(untilMs: number, stillWanted: () => void): Promise<void> {
    const { state, controller } = this.#parts;
    const { unsettled } = state.latch.frames;
    return state.latch.writeRelease(() => controller.setLatch(false, untilMs, unsettled, stillWanted));
  }

  /** Resolves with the excitation that the controller then shows. */
  async excite(
    excitation: GuardedExcitation,
    untilMs: number,
    stillWanted: () => void,
  ): Promise<GuardedExcitation> {
    const { state, controller } = this.#parts;
    state.forgetDeviation();
    await state.excitationFrames.during(() => controller.excite(excitation, untilMs, stillWanted));
    return controller.excitation({ priority: 'mode', untilMs });
  }

  /**
   * A controller that was away may come back without its latch, and gains would give it torque. So its status is read
   * between staging and committing: that shows an earlier reset, and a later one discards the staged gains.
   */
  async applyGains(gains: GainSet, untilMs: number): Promise<void> {
    const { state, controller } = this.#parts;
    const sameBoot = state.sameBoot();
    await controller.stageGains(gains, untilMs, sameBoot);
    await controller.status({ priority: 'gains', untilMs });
    if (state.latch.step === 'set') await this.latch(untilMs);
    await controller.commitGains(gains, untilMs, sameBoot);
    sameBoot();
  }

  /** Mends the latch. It comes before everything else, and does not wait for a request that has the unit's turn. */
  async mendLatch(untilMs: number): Promise<void> {
    const { state, foundLatched } = this.#parts;
    const { step } = state.latch;
    const stillWanted = () => {
      if (state.latch.step !== step) throw new RobotError('stopped');
    };
    switch (step) {
      case 'set':
        return this.latch(untilMs, 'stopped');
      case 'unlatch':
        return this.unlatch(untilMs, stillWanted);
      case 'resume':
        await this.setMode('manual', untilMs, stillWanted);
        await this.unlatch(untilMs, stillWanted);
        stillWanted();
        return state.released(true);
      case 'found':
        return foundLatched();
    }
  }

  /**
   * Mends mode, gains and excitation when the unit's turn comes. Waiting in line guarantees a turn even if callers
   * leave no gap between two requests.
   */
  async mendInLine(): Promise<void> {
    const { state, clock, gate } = this.#parts;
    if (this.#isMending || state.difference === undefined) return;
    this.#isMending = true;
    try {
      await gate.turn(clock.nowMs() + TURN_MS, () => this.#mend(clock.nowMs() + MEND_MS));
    } finally {
      this.#isMending = false;
    }
  }

  /** Takes back what refused requests may have left in the controller, if it can be reached. Never rejects. */
  async settle(): Promise<void> {
    const { state, controller, clock, gate } = this.#parts;
    if (!state.online) return;
    const untilMs = clock.nowMs() + SETTLE_MS;
    try {
      await controller.status({ priority: 'gains', untilMs });
      if (state.difference !== undefined) await gate.turn(untilMs, () => this.#mend(untilMs));
    } catch {
      // The next poll mends it, and reports the failure.
    }
  }

  /**
   * Waits for the unit's turn, calls `first`, and resolves when the controller shows everything that is wanted of it.
   * Rejects with `not-confirmed` if that takes too long. Later polls try again.
   */
  async bringBack(first?: () => void): Promise<void> {
    const { unit, state, controller, gate } = this.#parts;
    try {
      await gate.inTurn(async untilMs => {
        first?.();
        await controller.status({ priority: 'gains', untilMs });
        if (state.mode === 'debug') await this.#readExcitation(untilMs);
        await this.#mend(untilMs);
        if (state.difference !== undefined || !state.wantedGainsRun) throw new RobotError('not-confirmed');
      });
    } catch (cause) {
      throw new RobotError('not-confirmed', { unit: unit.name, ended: true }, { cause });
    }
  }

  /**
   * Brings the excitation to the wanted one, in the turn that the caller has. `isTrial`: it gets the guard of a trial,
   * which may be about to begin.
   */
  async mendExcitation(untilMs: number, isTrial: boolean): Promise<void> {
    const { state } = this.#parts;
    const due = state.dueExcitation(isTrial);
    if (due !== undefined) state.sawExcitation(await this.excite(due, untilMs, state.sameExcitation()));
  }

  async #mend(untilMs: number): Promise<void> {
    const { state, emit } = this.#parts;
    // The mode comes first, because gains give torque back to a controller that was reset.
    const mode = state.difference?.mode;
    if (mode !== undefined) {
      await this.setMode(mode, untilMs, () => {
        if (state.wantedMode !== mode) throw new RobotError('not-confirmed');
      });
    }
    if (mode === 'debug') await this.#readExcitation(untilMs);
    const gains = state.difference?.gains;
    if (gains !== undefined) {
      await this.applyGains(gains, untilMs);
      emit({ what: 'gains-applied' });
    }
    await this.mendExcitation(untilMs, state.gains.trial !== undefined);
  }

  async #readExcitation(untilMs: number): Promise<void> {
    const { state, controller } = this.#parts;
    state.sawExcitation(await controller.excitation({ priority: 'mode', untilMs }));
  }
}
