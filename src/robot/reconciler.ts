import type { Clock } from '../core/clock.js';
import { RobotError } from '../core/errors.js';
import type { GainSet, Mode, Unit } from '../core/units.js';
import type { GainsStore } from '../gains/gains-store.js';
import type { Link } from '../protocol/link.js';
import type { hostSilence } from './host-silence.js';
import type { MotorController, Terms } from './motor-controller.js';
import type { Permission, requestGate } from './request-gate.js';
import type { StepCapture, UnitEvent } from './robot-event.js';
import type { UnitState } from './unit-state.js';
import type { GuardedExcitation } from './wanted-motion.js';

/** The parts of one unit, and what they share. */
export interface UnitParts {
  readonly unit: Unit;
  readonly clock: Clock;
  readonly permission: Permission;
  readonly state: UnitState;
  readonly link: Link;
  readonly store: GainsStore;
  readonly silence: ReturnType<typeof hostSilence>;
  readonly controller: MotorController;
  readonly gate: ReturnType<typeof requestGate>;
  readonly reconciler: ReturnType<typeof reconcilerOf>;
  readonly emit: (event: UnitEvent) => void;
  /** Whether a listener wants the readings of every poll. */
  readonly isFollowed: () => boolean;
  /** Called when the controller has latched without being asked. */
  readonly foundLatched: () => void;
  readonly stepCaptured: (capture: StepCapture) => void;
}

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
export function reconcilerOf(parts: Omit<UnitParts, 'reconciler'>) {
  const { clock, controller, emit, foundLatched, gate, state, unit } = parts;
  let isMending = false;

  const setMode = async (mode: Mode, terms: Terms): Promise<void> => {
    const isInForce = () => state.mode === mode && !state.modeFrames.unsettled;
    // The mode that is already in force needs no frame. A frame would make the next switch wait for its effect.
    if (isInForce()) {
      await controller.status({ priority: 'mode', untilMs: terms.untilMs });
      if (isInForce()) return;
    }
    // A controller that enters debug mode ends its excitation. That must not count as the controller's own choice.
    state.excitationFrames.disturb();
    const isNew = state.mode !== mode;
    await state.modeFrames.during(
      async unsettled => (await controller.setMode(mode, { ...terms, unsettled })) === 1 && isNew,
    );
  };

  /**
   * Writes the latch. Rejects with the code `overtaken` if a resume has begun or the latch is no longer
   * wanted.
   */
  const latch = (
    untilMs: number,
    overtaken: 'not-confirmed' | 'stopped' = 'not-confirmed',
  ): Promise<void> => {
    const { latch } = state;
    const stillWanted = () => {
      if (!latch.isWanted || latch.isReleasing) throw new RobotError(overtaken);
    };
    return latch.frames.during(unsettled => controller.setLatch(true, { untilMs, stillWanted, unsettled }));
  };

  const unlatch = (terms: Terms): Promise<void> =>
    state.latch.writeRelease(unsettled => controller.setLatch(false, { ...terms, unsettled }));

  /** Writes the excitation. Resolves with the excitation that the controller then shows. */
  const excite = async (excitation: GuardedExcitation, terms: Terms): Promise<GuardedExcitation> => {
    state.forgetGuard();
    await state.excitationFrames.during(() => controller.excite(excitation, terms));
    return controller.excitation({ priority: 'mode', untilMs: terms.untilMs });
  };

  /**
   * A controller that was unreachable may return without its latch, and gains would give it torque. So its status is
   * read between staging and committing. The status shows an earlier reset, and a later reset discards the staged
   * gains.
   */
  const applyGains = async (gains: GainSet, untilMs: number): Promise<void> => {
    const terms = { untilMs, stillWanted: state.sameBoot() };
    await controller.stageGains(gains, terms);
    await controller.status({ priority: 'gains', untilMs });
    if (state.latch.step === 'set') await latch(untilMs);
    await controller.commitGains(gains, terms);
  };

  /** Corrects the latch. This comes before everything else, and does not wait for the unit's turn. */
  const mendLatch = async (untilMs: number): Promise<void> => {
    const { step } = state.latch;
    const stillWanted = () => {
      if (state.latch.step !== step) throw new RobotError('stopped');
    };
    switch (step) {
      case 'set':
        return latch(untilMs, 'stopped');
      case 'unlatch':
        return unlatch({ untilMs, stillWanted });
      case 'resume':
        await setMode('manual', { untilMs, stillWanted });
        await unlatch({ untilMs, stillWanted });
        stillWanted();
        return state.released(true);
      case 'found':
        return foundLatched();
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
    if (!state.online) return;
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
        if (state.mode === 'debug') await readExcitation(untilMs);
        await mend(untilMs);
        if (state.difference !== undefined || !state.wantedGainsRun) throw new RobotError('not-confirmed');
      });
    } catch (cause) {
      throw new RobotError('not-confirmed', { unit: unit.name, ended: true }, { cause });
    }
  };

  /**
   * Writes the wanted excitation if the controller shows another one. Call this in the unit's turn.
   * `isTrial`: the excitation gets a trial's guard, because a trial runs or may be about to begin.
   */
  const mendExcitation = async (untilMs: number, isTrial: boolean): Promise<void> => {
    const due = state.dueExcitation(isTrial);
    if (due === undefined) return;
    state.sawExcitation(await excite(due, { untilMs, stillWanted: state.sameExcitation() }));
  };

  const mend = async (untilMs: number): Promise<void> => {
    // The mode comes first, because gains give torque back to a controller that was reset.
    const mode = state.difference?.mode;
    if (mode !== undefined) {
      const stillWanted = () => {
        if (state.wantedMode !== mode) throw new RobotError('not-confirmed');
      };
      await setMode(mode, { untilMs, stillWanted });
    }
    if (mode === 'debug') await readExcitation(untilMs);
    const gains = state.difference?.gains;
    if (gains !== undefined) {
      await applyGains(gains, untilMs);
      emit({ what: 'gains-applied' });
    }
    await mendExcitation(untilMs, state.gains.trial !== undefined);
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
