import { type GainsDifference, RobotError } from '../core/errors.js';
import type { GainSet } from '../core/units.js';
import { changedLoops } from '../gains/changed-loops.js';
import type { SavedGains } from '../gains/gains-store.js';
import type { Reconciler } from './reconciler.js';
import type { RequestGate } from './request-gate.js';
import type { TrialEnd } from './robot-event.js';
import type { UnitParts } from './unit-parts.js';
import type { UnitSupervision } from './unit-supervision.js';
import { isSameTrial, type Trial } from './wanted-gains.js';

/** The caller of a failed save waits at most this long for the saved gains to be back. Later polls try again. */
const BRING_BACK_MS = 100;

/** A save that waits for the unit's turn. It resolves when the controller runs its gains, or newer ones. */
interface WaitingSave {
  readonly gains: GainSet;
  readonly baseRevision: number | undefined;
  readonly stillWanted: (() => void) | undefined;
  readonly untilMs: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Saves and trials of one unit's gains. */
export class UnitGains {
  readonly #parts: UnitParts;
  readonly #gate: RequestGate;
  readonly #reconciler: Reconciler;
  readonly #supervision: UnitSupervision;
  #waiting: WaitingSave[] = [];

  constructor(parts: UnitParts, gate: RequestGate, reconciler: Reconciler, supervision: UnitSupervision) {
    this.#parts = parts;
    this.#gate = gate;
    this.#reconciler = reconciler;
    this.#supervision = supervision;
  }

  /**
   * Resolves when the gains are active in the controller and on the disk. The next save may stage while this one waits
   * for the disk. With `baseRevision`, the save is refused with `changed-meanwhile` if another revision is in force.
   */
  async save(
    gains: GainSet,
    { baseRevision, stillWanted }: { baseRevision?: number | undefined; stillWanted?: () => void } = {},
  ): Promise<SavedGains> {
    const { unit, store, state, emit } = this.#parts;
    try {
      await new Promise<void>((resolve, reject) => {
        const untilMs = this.#gate.deadlineMs;
        const save = { gains, baseRevision, stillWanted, untilMs, resolve, reject };
        this.#requireAllowed(save);
        this.#gate.requireOnline();
        this.#wait([...this.#waiting, save]);
      });
      const after = await store.save(unit.name, gains).finally(() => state.gains.endSave(gains));
      const before = store.before(unit.name, after.revision);
      emit({ what: 'save', detail: { before: before.revision, after: after.revision } });
      return after;
    } catch (error) {
      await this.settle();
      throw error;
    }
  }

  /**
   * Saves that wait for the unit share its next turn: the controller gets the newest gains only, and each save is a
   * revision.
   */
  #wait(saves: WaitingSave[]): void {
    const hasTurn = this.#waiting.length > 0;
    this.#waiting = saves;
    const [first] = saves;
    if (first === undefined || hasTurn) return;
    this.#gate
      .inTurn(
        () => undefined,
        () => this.#give(this.#waiting.splice(0)),
        first.untilMs,
      )
      .catch(error => this.#wait(refuseDue(this.#waiting.splice(0), first.untilMs, error)));
  }

  /** Gives the newest gains to the controller. */
  async #give(saves: readonly WaitingSave[]): Promise<void> {
    const { state } = this.#parts;
    const allowed: WaitingSave[] = [];
    const again: WaitingSave[] = [];
    for (const save of saves) {
      try {
        this.#requireAllowed(save);
        // The saves before it change the revision in force. Its base is compared once they are on the disk.
        if (save.baseRevision !== undefined && allowed.length > 0) again.push(save);
        else allowed.push(save);
      } catch (error) {
        save.reject(error);
      }
    }
    const newest = allowed.at(-1);
    if (newest === undefined) return;
    const untilMs = Math.min(...allowed.map(save => save.untilMs));
    try {
      await this.#reconciler.applyGains(newest.gains, untilMs);
      for (const { gains, resolve } of allowed) {
        state.gains.beginSave(gains);
        resolve();
      }
    } catch (error) {
      again.push(...refuseDue(allowed, untilMs, error));
    }
    // Put them back in front, so that older gains never overwrite newer ones.
    this.#wait([...saves.filter(save => again.includes(save)), ...this.#waiting]);
  }

  /** Runs gains without saving them, until the trial ends or another trial with the same id takes its place. */
  async tryGains(trial: Trial, stillWanted?: () => void): Promise<void> {
    const { unit, store, state } = this.#parts;
    const act = { kind: 'trial' } as const;
    try {
      await this.#gate.request(act, stillWanted, async untilMs => {
        const running = state.gains.trial;
        const noneEnded = state.gains.noneEnded();
        // Throws if the journal cannot be read. Then nobody knows which gains come after the trial.
        store.current(unit.name);
        if (running !== undefined && !isSameTrial(running, trial)) {
          throw new RobotError('trial-running', { unit: unit.name, by: running.by });
        }
        // A save that still waits for the disk would end this trial as soon as the disk answers.
        if (state.gains.savesPending) throw new RobotError('unit-busy', { unit: unit.name });
        // Fresh readings show which loops are past their bound already. These gains are not to blame for those.
        if (running === undefined) await this.#supervision.takeReadings({ priority: 'gains', untilMs });
        await this.#reconciler.mendExcitation(untilMs, true);
        await this.#reconciler.applyGains(trial.gains, untilMs);
        this.#gate.requireNotOvertaken(act);
        stillWanted?.();
        noneEnded();
        state.gains.beginTrial(trial);
      });
    } catch (error) {
      await this.settle();
      throw error;
    }
  }

  /**
   * Resolves when the controller runs what follows the trial: the saved gains, unless a save or another trial has
   * begun. Rejects as `bringBack` does. The trial is over even then.
   */
  async endTrial(why: TrialEnd): Promise<void> {
    const end = () => this.#parts.state.gains.endTrial(why);
    end();
    // A trial that was asked for earlier may begin while this waits for its turn. Its end was asked for too.
    await this.bringBack(why === 'ended' ? end : undefined);
  }

  /** Takes back what refused requests may have left in the controller, if it can be reached. Never rejects. */
  async settle(): Promise<void> {
    const { state, clock } = this.#parts;
    if (state.presence.online) await this.#reconciler.settle(clock.nowMs() + BRING_BACK_MS);
  }

  /**
   * Waits for the unit's turn, and resolves when the controller shows everything that is wanted of it. Rejects with
   * `not-confirmed` if that takes too long; polls try again then. `first` is called in the turn.
   */
  async bringBack(first?: () => void): Promise<void> {
    try {
      await this.#gate.inTurn(
        () => undefined,
        untilMs => {
          first?.();
          return this.#reconciler.prove(untilMs);
        },
      );
    } catch (cause) {
      throw new RobotError('not-confirmed', { unit: this.#parts.unit.name, ended: true }, { cause });
    }
  }

  /**
   * Throws if the save is forbidden or its base has changed. A save that the disk has not confirmed yet may become the
   * revision in force, so it counts as a change.
   */
  #requireAllowed({ baseRevision, gains: sent, stillWanted }: WaitingSave): void {
    const { unit, permission, store, state } = this.#parts;
    permission.require({ kind: 'save' });
    stillWanted?.();
    // Throws if the journal cannot be read. Then nobody knows which gains to go back to.
    const { revision, gains } = store.current(unit.name);
    if (baseRevision === undefined) return;
    if (revision === baseRevision && !state.gains.savesPending) return;
    const difference = differenceOf(sent, gains);
    throw new RobotError('changed-meanwhile', { unit: unit.name, revision, difference });
  }
}

/** Refuses the saves that have timed out at `nowMs`. Returns the others, which have time for another turn. */
function refuseDue(saves: readonly WaitingSave[], nowMs: number, error: unknown): WaitingSave[] {
  for (const { untilMs, reject } of saves) if (untilMs <= nowMs) reject(error);
  return saves.filter(({ untilMs }) => untilMs > nowMs);
}

/** The loops whose gains differ. */
function differenceOf(sent: GainSet, inForce: GainSet): Record<string, GainsDifference> {
  const difference: Record<string, GainsDifference> = {};
  for (const [loop, { before, after }] of Object.entries(changedLoops(inForce, sent))) {
    if (before !== null && after !== null) difference[loop] = { sent: after, inForce: before };
  }
  return difference;
}
