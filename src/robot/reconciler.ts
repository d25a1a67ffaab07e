import type { Clock } from '../core/clock.js';
import { RobotError } from '../core/errors.js';
import type { GainSet, Mode } from '../core/units.js';
import type { GuardedExcitation, MotorController, Terms } from './motor-controller.js';
import type { RequestGate } from './request-gate.js';
import type { UnitState } from './unit-state.js';
import { isReleasing } from './wanted.js';

export type Reconciler = ReturnType<typeof reconcilerOf>;

/**
 * The time limit of a correction. It is longer than any request may wait, so that a correction gets its turn after
 * the requests before it.
 */
const TURN_MS = 1000;
/** The time that a correction needs on a bus of 100 kHz that callers keep busy, with some margin. */
const MEND_MS = 250;
/** A refused caller waits at most this long until the effects of the request are undone. Polls then try again. */
const SETTLE_MS = 100;

/** Brings a controller to its wanted state. Each step is confirmed by reading back. */
export function reconcilerOf(clock: Clock, state: UnitState, controller: MotorController, gate: RequestGate) {
  const { observed } = state;
  let isMending = false;

  const setMode = async (mode: Mode, terms: Terms): Promise<void> => {
    const isInForce = () => observed.mode === mode && !state.modeFrames.unsettled;
    // The mode that is already in force needs no frame. A frame would make the next switch wait for its effect.
    if (isInForce()) {
      await controller.status({ priority: 'mode', untilMs: terms.untilMs });
      if (isInForce()) return;
    }
    // A controller that enters debug mode ends its excitation. That must not count as the controller's own choice.
    state.excitationFrames.disturb();
    const isNew = observed.mode !== mode;
    await state.modeFrames.during(
      async unsettled => (await controller.setMode(mode, { ...terms, unsettled })) === 1 && isNew,
    );
  };

  /**
   * Writes the latch. Rejects with the code `overtaken` if a resume has begun or the latch is no longer
   * wanted.
   */
  const latch = (untilMs: number, overtaken: 'not-confirmed' | 'stopped' = 'not-confirmed') => {
    const requireDue = () => {
      if (state.wanted.latch !== 'set' || isReleasing(state.wanted)) throw new RobotError(overtaken);
    };
    return state.latch.frames.during(unsettled =>
      controller.setLatch(true, { untilMs, requireDue, unsettled }),
    );
  };

  const unlatch = (terms: Terms): Promise<void> =>
    state.latch.writeRelease(unsettled => controller.setLatch(false, { ...terms, unsettled }));

  /** Writes the excitation. Resolves with the excitation that the controller then shows. */
  const excite = async (excitation: GuardedExcitation, terms: Terms): Promise<GuardedExcitation> => {
    observed.guard = undefined;
    await state.excitationFrames.during(() => controller.excite(excitation, terms));
    return controller.excitation({ priority: 'mode', untilMs: terms.untilMs });
  };

  /**
   * A controller that was unreachable may return without its latch, and gains would give it torque. So its status is
   * read between staging and committing. The status shows an earlier reset, and a later reset discards the staged
   * gains.
   */
  const applyGains = async (gains: GainSet, untilMs: number): Promise<void> => {
    const terms = { untilMs, requireDue: state.sameBoot() };
    await controller.stageGains(gains, terms);
    await controller.status({ priority: 'gains', untilMs });
    if (state.latch.step === 'set') await latch(untilMs);
    await controller.commitGains(gains, terms);
  };

  /** Corrects the latch. This comes before everything else, and does not wait for the unit's turn. */
  const mendLatch = async (untilMs: number): Promise<void> => {
    const { step } = state.latch;
    const requireDue = () => {
      if (state.latch.step !== step) throw new RobotError('stopped');
    };
    switch (step) {
      case 'set':
        return latch(untilMs, 'stopped');
      case 'unlatch':
        return unlatch({ untilMs, requireDue });
      case 'resume':
        await setMode('manual', { untilMs, requireDue });
        await unlatch({ untilMs, requireDue });
        requireDue();
        return state.released(true);
      case 'found':
        return state.take('own latch', {});
    }
  };

  /**
   * Corrects mode, gains and excitation in a turn of the unit. Turns are given in order, so a turn comes even if
   * callers send requests without a pause.
   */
  const mendInLine = async (): Promise<void> => {
    if (isMending || state.difference === undefined) return;
    isMending = true;
    try {
      await gate.turn(clock.nowMs() + TURN_MS, () => mend(clock.nowMs() + MEND_MS));
    } finally {
      isMending = false;
    }
  };

  /** Undoes what refused requests may have left in the controller, if it can be reached. Never rejects. */
  const settle = async (): Promise<void> => {
    if (!observed.online) return;
    const untilMs = clock.nowMs() + SETTLE_MS;
    try {
      await controller.status({ priority: 'gains', untilMs });
      if (state.difference !== undefined) await gate.turn(untilMs, () => mend(untilMs));
    } catch {
      // The next poll corrects this, and reports the failure.
    }
  };

  /**
   * Waits for the unit's turn, calls `first`, and resolves when the controller shows the whole wanted state. Rejects
   * with `not-confirmed` if that takes too long. Later polls try again.
   */
  const bringBack = async (first?: () => void): Promise<void> => {
    try {
      await gate.inTurn(async untilMs => {
        first?.();
        await controller.status({ priority: 'gains', untilMs });
        if (observed.mode === 'debug') await readExcitation(untilMs);
        await mend(untilMs);
        if (state.difference !== undefined || !state.runs(state.gains)) throw new RobotError('not-confirmed');
      });
    } catch (cause) {
      throw new RobotError('not-confirmed', { unit: state.unit.name, ended: true }, { cause });
    }
  };

  /**
   * Writes the wanted excitation if the controller shows another one. Call this in the unit's turn.
   * `isTrial`: the excitation gets a trial's guard, because a trial runs or may be about to begin.
   */
  const mendExcitation = async (untilMs: number, isTrial: boolean): Promise<void> => {
    const due = state.dueExcitation(isTrial);
    if (due === undefined) return;
    state.sawExcitation(await excite(due, { untilMs, requireDue: state.sameExcitation() }));
  };

  const mend = async (untilMs: number): Promise<void> => {
    // The mode comes first, because gains give torque back to a controller that was reset.
    const mode = state.difference?.mode;
    if (mode !== undefined) {
      await setMode(mode, { untilMs, requireDue: state.unchanged('mode', () => state.wanted.mode) });
    }
    if (mode === 'debug') await readExcitation(untilMs);
    const gains = state.difference?.gains;
    if (gains !== undefined) {
      await applyGains(gains, untilMs);
      state.emit({ what: 'gains-applied' });
    }
    await mendExcitation(untilMs, state.wanted.trial !== undefined);
  };

  const readExcitation = async (untilMs: number): Promise<void> => {
    state.sawExcitation(await controller.excitation({ priority: 'mode', untilMs }));
  };
  return {
    setMode,
    latch,
    unlatch,
    excite,
    applyGains,
    mendLatch,
    mendInLine,
    settle,
    bringBack,
    mendExcitation,
  };
}
