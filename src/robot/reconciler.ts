import type { Clock } from '../core/clock.js';
import { RobotError } from '../core/errors.js';
import type { Excitation, GainSet, Mode } from '../core/units.js';
import type { MotorController } from './motor-controller.js';
import type { UnitEvent } from './robot-event.js';
import type { Turns } from './turns.js';
import type { UnitState } from './unit-state.js';

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
    const { modeFrames, waveFrames, mode: shown } = this.#state;
    const { unsettled } = modeFrames;
    // A controller that enters debug mode forgets its wave, and that must not be taken for its own choice.
    waveFrames.disturb();
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

  excite(wave: Excitation, untilMs: number, stillWanted: () => void): Promise<void> {
    return this.#state.waveFrames.during(() => this.#controller.excite(wave, untilMs, stillWanted));
  }

  /**
   * Sets the deviation that the controller's guard allows this wave. Another loop's wave that goes on, or that an earlier
   * frame may still begin, ends first, since the deviation is not meant for it.
   */
  async guardFor(wave: Excitation, deviation: number, untilMs: number): Promise<void> {
    if (!this.#state.lacksGuard(deviation)) return;
    const { wave: shown, waveFrames } = this.#state;
    const isOther = shown?.loop !== wave.loop && shown?.amplitude !== 0;
    if (deviation !== 0 && (isOther || waveFrames.unsettled)) {
      await this.excite({ ...wave, amplitude: 0 }, untilMs, this.#state.sameBoot());
      await this.#lookAtWave(untilMs);
    }
    await this.guard(deviation, untilMs);
  }

  /** Sets the deviation that the controller's guard allows, unless it is set already or the firmware has no guard. */
  async guard(deviation: number, untilMs: number): Promise<void> {
    if (!this.#state.lacksGuard(deviation)) return;
    // Until the frame is confirmed nobody knows whether the controller obeyed it.
    this.#state.gaveGuard(undefined);
    await this.#controller.guard(deviation, untilMs, this.#state.sameBoot());
    this.#state.gaveGuard(deviation);
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
   * Looks at the controller and mends it in the turn that the caller has. Rejects where the controller does not show in
   * the end what is wanted of it.
   */
  async prove(untilMs: number): Promise<void> {
    await this.#controller.status({ priority: 'gains', untilMs });
    if (this.#state.mode === 'debug') await this.#lookAtWave(untilMs);
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
    if (mode === 'debug') await this.#lookAtWave(untilMs);
    // A guard is set before its wave begins and taken away after its wave has ended. A daemon that starts in between tells
    // by the guard whether the wave is a trial's, which it ends, or somebody's choice, which goes on.
    const { guard, wave: due } = this.#state.difference ?? {};
    const { wantedWave } = this.#state;
    const isEnding = due === undefined || due.amplitude === 0;
    if (guard !== undefined && wantedWave !== undefined && !(guard === 0 && isEnding))
      await this.guardFor(wantedWave, guard, untilMs);
    const gains = this.#state.difference?.gains;
    if (gains !== undefined) {
      await this.applyGains(gains, untilMs);
      this.#emit({ what: 'gains applied' });
    }
    await this.mendWave(untilMs);
    if (this.#state.difference?.guard === 0) await this.guard(0, untilMs);
  }

  /** Brings the wave to the wanted one, in the turn that the caller has. */
  async mendWave(untilMs: number): Promise<void> {
    const wave = this.#state.difference?.wave;
    if (wave === undefined) return;
    await this.excite(wave, untilMs, this.#state.sameWave());
    await this.#lookAtWave(untilMs);
  }

  async #lookAtWave(untilMs: number): Promise<void> {
    this.#state.sawWave(await this.#controller.excitation({ priority: 'mode', untilMs }));
  }
}
