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
   * Gives the controller the newest gains of all pending saves, in one turn. Each save is a revision. If the
   * controller does not take the gains, only this save is refused. The other saves have their own turns.
   */
  async #giveNewest(own: PendingSave, untilMs: number): Promise<void> {
    const { unit, store, state, reconciler } = this.#parts;
    if (!this.#pending.has(own)) return;
    const allowed: PendingSave[] = [];
    for (const save of this.#pending) {
      try {
        this.#requireAllowed(save);
        // The earlier saves will change the revision in force. The base of this save is compared when they are on the
        // disk.
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
        // Throws if the journal cannot be read, because the gains after the trial would be unknown.
        store.current(unit.name);
        if (running !== undefined && !isSameTrial(running, trial)) {
          throw new RobotError('trial-running', { unit: unit.name, by: running.by });
        }
        // A pending save would end this trial as soon as the disk answers.
        if (state.gains.savesPending) throw new RobotError('unit-busy', { unit: unit.name });
        // Fresh readings show which loops are already beyond their bound. The new gains are not the cause.
        if (running === undefined) state.sawReadings(await controller.telemetry(untilMs));
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
   * Resolves when the controller runs the gains that follow the trial: the saved ones, unless a save or another trial
   * has begun. Rejects as `Reconciler.bringBack` does. The trial is over even then.
   */
  async endTrial(why: TrialEnd): Promise<void> {
    const end = () => this.#parts.state.gains.endTrial(why);
    end();
    // An earlier trial may begin while this waits for its turn. It is ended too.
    await this.#parts.reconciler.bringBack(why === 'ended' ? end : undefined);
  }

  /**
   * Throws if the save is forbidden or its base has changed. A pending save may become the revision in force, so it
   * counts as a change.
   */
  #requireAllowed({ baseRevision, gains: sent, stillWanted }: PendingSave): void {
    const { unit, permission, store, state } = this.#parts;
    permission.require({ kind: 'save' });
    stillWanted?.();
    // Throws if the journal cannot be read, because the gains to restore would be unknown.
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
