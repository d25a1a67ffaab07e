import { type GainsDifference, RobotError } from '../core/errors.js';
import type { GainSet } from '../core/units.js';
import { changedLoops } from '../gains/changed-loops.js';
import type { SavedGains } from '../gains/gains-store.js';
import type { UnitParts } from './reconciler.js';
import type { TrialEnd } from './robot-event.js';
import { isSameTrial, type Trial } from './wanted-gains.js';

interface SaveOptions {
  /** The save is refused with `changed-meanwhile` if another revision is in force. */
  readonly baseRevision?: number | undefined;
  readonly stillWanted?: (() => void) | undefined;
}

/** A save on its way to the controller. */
interface PendingSave extends SaveOptions {
  readonly gains: GainSet;
  readonly resolve: (saved: Promise<SavedGains>) => void;
  readonly reject: (error: unknown) => void;
}

/** Saves and trials of one unit's gains. */
export class UnitGains {
  readonly #parts: UnitParts;
  /** In order of arrival. */
  readonly #pending = new Set<PendingSave>();

  constructor(parts: UnitParts) {
    this.#parts = parts;
  }

  /**
   * Resolves when the gains are active in the controller and on the disk. The next save may stage while this one waits
   * for the disk.
   */
  async save(gains: GainSet, options: SaveOptions = {}): Promise<SavedGains> {
    const { unit, store, gate, reconciler, emit } = this.#parts;
    try {
      const after = await new Promise<SavedGains>((resolve, reject) => {
        const save = { ...options, gains, resolve, reject };
        this.#requireAllowed(save);
        this.#pending.add(save);
        gate.inTurn(untilMs => this.#giveNewest(save, untilMs)).catch(error => this.#refuse(save, error));
      });
      const before = store.before(unit.name, after.revision);
      emit({ what: 'save', detail: { before: before.revision, after: after.revision } });
      return after;
    } catch (error) {
      await reconciler.settle();
      throw error;
    }
  }

  /**
   * Gives the controller the newest gains of all pending saves, in the turn of one of them. Each save is a revision. If
   * the controller does not take them, only this save is refused, and the others have turns of their own.
   */
  async #giveNewest(own: PendingSave, untilMs: number): Promise<void> {
    const { unit, store, state, reconciler } = this.#parts;
    if (!this.#pending.has(own)) return;
    const allowed: PendingSave[] = [];
    for (const save of this.#pending) {
      try {
        this.#requireAllowed(save);
        // The saves before it change the revision in force. Its base is compared once they are on the disk.
        if (save.baseRevision === undefined || allowed.length === 0) allowed.push(save);
      } catch (error) {
        this.#refuse(save, error);
      }
    }
    const newest = allowed.at(-1);
    if (newest === undefined) return;
    await reconciler.applyGains(newest.gains, untilMs);
    for (const save of allowed) {
      // It timed out meanwhile.
      if (!this.#pending.delete(save)) continue;
      state.gains.beginSave(save.gains);
      save.resolve(store.save(unit.name, save.gains).finally(() => state.gains.endSave(save.gains)));
    }
  }

  #refuse(save: PendingSave, error: unknown): void {
    this.#pending.delete(save);
    save.reject(error);
  }

  /** Runs gains without saving them, until the trial ends or another trial with the same id takes its place. */
  async tryGains(trial: Trial, stillWanted?: () => void): Promise<void> {
    const { unit, store, state, controller, gate, reconciler } = this.#parts;
    const act = { kind: 'trial' } as const;
    try {
      await gate.request(act, stillWanted, async untilMs => {
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
        if (running === undefined)
          state.sawReadings(await controller.telemetry({ priority: 'gains', untilMs }));
        await reconciler.mendExcitation(untilMs, true);
        await reconciler.applyGains(trial.gains, untilMs);
        gate.requireNotOvertaken(act);
        stillWanted?.();
        noneEnded();
        state.gains.beginTrial(trial);
      });
    } catch (error) {
      await reconciler.settle();
      throw error;
    }
  }

  /**
   * Resolves when the controller runs what follows the trial: the saved gains, unless a save or another trial has
   * begun. Rejects as `Reconciler.bringBack` does. The trial is over even then.
   */
  async endTrial(why: TrialEnd): Promise<void> {
    const end = () => this.#parts.state.gains.endTrial(why);
    end();
    // A trial that was asked for earlier may begin while this waits for its turn. Its end was asked for too.
    await this.#parts.reconciler.bringBack(why === 'ended' ? end : undefined);
  }

  /**
   * Throws if the save is forbidden or its base has changed. A save that the disk has not confirmed yet may become the
   * revision in force, so it counts as a change.
   */
  #requireAllowed({ baseRevision, gains: sent, stillWanted }: PendingSave): void {
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

/** The loops whose gains differ. */
function differenceOf(sent: GainSet, inForce: GainSet): Record<string, GainsDifference> {
  const difference: Record<string, GainsDifference> = {};
  for (const [loop, { before, after }] of Object.entries(changedLoops(inForce, sent))) {
    if (before !== null && after !== null) difference[loop] = { sent: after, inForce: before };
  }
  return difference;
}
