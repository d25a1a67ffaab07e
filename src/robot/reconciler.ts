import type { Clock } from '../core/clock.js';
import { RobotError } from '../core/errors.js';
import type { GainSet, Mode } from '../core/units.js';
import type { MotorController } from './motor-controller.js';
import type { UnitEvent } from './robot-event.js';
import type { Turns } from './turns.js';
import type { UnitState } from './unit-state.js';
import type { GuardedExcitation } from './wanted-excitation.js';

/** Longer than any request may wait, so that a mending gets its turn behind those that came before it. */
const TURN_MS = 1000;
/** What a mending takes in its turn on a bus of 100 kHz that callers keep busy, and some more. */
const MEND_MS = 250;

/** Brings a controller to what is wanted of it. Each step is confirmed by what the controller shows afterwards. */
export class Reconciler {
  readonly #state: UnitState;
  readonly #controller: MotorController;
  readonly #turns: Turns;
  readonly #clock: Clock;
  readonly #emit: (event: UnitEvent) => void;
  readonly #foundLatched: () => void;
  #isMending = false;

  constructor(options: {
    state: UnitState;
    controller: MotorController;
    turns: Turns;
    clock: Clock;
    emit: (event: UnitEvent) => void;
    foundLatched: () => void;
  }) {
    this.#state = options.state;
    this.#controller = options.controller;
    this.#turns = options.turns;
    this.#clock = options.clock;
    this.#emit = options.emit;
    this.#foundLatched = options.foundLatched;
  }

  /**
   * `stillWanted` is called before every write, and throws when a reset or another request came between. Resolves with
   * an act that the caller calls once the mode counts as confirmed. It settles the frames if only one was written and
   * the controller shows another mode since.
   */
  setMode(mode: Mode, untilMs: number, stillWanted: () => void): Promise<() => void> {
    const { modeFrames, excitationFrames, mode: shown } = this.#state;
    const { unsettled } = modeFrames;
    // A controller that enters debug mode ends its excitation. That must not count as its own choice.
    excitationFrames.disturb();
    return modeFrames.duringProof(
      async () =>
        (await this.#controller.setMode(mode, untilMs, unsettled, stillWanted)) === 1 && mode !== shown,
    );
  }

  /** Rejects with the code `overtaken` where a resume has begun or the latch is not wanted any more. */
  latch(untilMs: number, overtaken: 'not-confirmed' | 'stopped' = 'not-confirmed'): Promise<void> {
    const { latch } = this.#state;
    const { unsettled } = latch.frames;
    const stillWanted = () => {
      if (!latch.isWanted || latch.isReleasing) throw new RobotError(overtaken);
    };
    return latch.frames.during(() => this.#controller.setLatch(true, untilMs, unsettled, stillWanted));
  }

  /** Resolves with the excitation that the controller then shows. */
  async excite(
    excitation: GuardedExcitation,
    untilMs: number,
    stillWanted: () => void,
  ): Promise<GuardedExcitation> {
    const { excitationFrames } = this.#state;
    this.#state.forgetDeviation();
    await excitationFrames.during(() => this.#controller.excite(excitation, untilMs, stillWanted));
    return this.#controller.excitation({ priority: 'mode', untilMs });
  }

  unlatch(untilMs: number, stillWanted: () => void): Promise<void> {
    const { latch } = this.#state;
    const { unsettled } = latch.frames;
    return latch.writeRelease(() => this.#controller.setLatch(false, untilMs, unsettled, stillWanted));
  }

  /**
   * A controller that was away may come back without its latch, and gains would give it torque. So its status is read
   * between staging and committing: that shows an earlier reset, and a later one discards the staged gains.
   */
  async applyGains(gains: GainSet, untilMs: number): Promise<void> {
    const sameBoot = this.#state.sameBoot();
    await this.#controller.stageGains(gains, untilMs, sameBoot);
    await this.#controller.status({ priority: 'gains', untilMs });
    if (this.#state.latch.step === 'set') await this.latch(untilMs);
    await this.#controller.commitGains(gains, untilMs, sameBoot);
    sameBoot();
  }

  /** Mends the latch. It comes before everything else, and does not wait for a request that has the unit's turn. */
  async mendLatch(untilMs: number): Promise<void> {
    const { step } = this.#state.latch;
    const stillWanted = () => {
      if (this.#state.latch.step !== step) throw new RobotError('stopped');
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
        return this.#state.released(true);
      case 'found':
        return this.#foundLatched();
    }
  }

  /**
   * Mends mode, gains and wave as soon as the unit's turn comes. Callers who leave no gap between two requests would
   * otherwise keep a controller from ever being mended.
   */
  async mendInLine(): Promise<void> {
    if (this.#isMending || this.#state.difference === undefined) return;
    this.#isMending = true;
    try {
      const untilMs = this.#clock.nowMs() + TURN_MS;
      await this.#turns.take(untilMs, () => this.#mendInTurn(this.#clock.nowMs() + MEND_MS));
    } finally {
      this.#isMending = false;
    }
  }

  /** Looks at the controller and mends it. Never rejects: later polls go on trying. */
  async settle(untilMs: number): Promise<void> {
    try {
      await this.#controller.status({ priority: 'gains', untilMs });
      if (this.#state.difference !== undefined)
        await this.#turns.take(untilMs, () => this.#mendInTurn(untilMs));
    } catch {
      // A poll says what is wrong.
    }
  }

  /**
   * Reads the controller's status and mends it in the turn that the caller has. Rejects if the controller does not show
   * in the end what is wanted of it.
   */
  async prove(untilMs: number): Promise<void> {
    await this.#controller.status({ priority: 'gains', untilMs });
    if (this.#state.mode === 'debug') await this.#readExcitation(untilMs);
    await this.#mendInTurn(untilMs);
    if (this.#state.difference === undefined && this.#state.wantedGainsRun) return;
    throw new RobotError('not-confirmed');
  }

  async #mendInTurn(untilMs: number): Promise<void> {
    // The mode comes first, because gains give torque back to a controller that was reset.
    const mode = this.#state.difference?.mode;
    if (mode !== undefined) {
      await this.setMode(mode, untilMs, () => {
        if (this.#state.wantedMode !== mode) throw new RobotError('not-confirmed');
      });
    }
    if (mode === 'debug') await this.#readExcitation(untilMs);
    const gains = this.#state.difference?.gains;
    if (gains !== undefined) {
      await this.applyGains(gains, untilMs);
      this.#emit({ what: 'gains applied' });
    }
    await this.mendExcitation(untilMs, this.#state.gains.trial !== undefined);
  }

  /**
   * Brings the excitation to the wanted one, in the turn that the caller has. `isTrial`: it gets the guard of a trial,
   * which may be about to begin.
   */
  async mendExcitation(untilMs: number, isTrial: boolean): Promise<void> {
    const due = this.#state.dueExcitation(isTrial);
    if (due !== undefined)
      this.#state.sawExcitation(await this.excite(due, untilMs, this.#state.sameExcitation()));
  }

  async #readExcitation(untilMs: number): Promise<void> {
    this.#state.sawExcitation(await this.#controller.excitation({ priority: 'mode', untilMs }));
  }
}
