import { type GainsDifference, RobotError } from '../core/errors.js';
import type { GainSet } from '../core/units.js';
import { changedLoops } from '../gains/changed-loops.js';
import type { SavedGains } from '../gains/gains-store.js';
import type { Reconciler } from './reconciler.js';
import type { TrialEnd } from './robot-event.js';
import type { UnitParts } from './unit-parts.js';
import { isSameTrial, type Trial } from './wanted-gains.js';

interface SaveOptions {
  /** The save is refused with `changed-meanwhile` if another revision is in force. */
  readonly baseRevision?: number | undefined;
  readonly stillWanted?: (() => void) | undefined;
}

/** A save on its way to the controller. */
interface PendingSave extends SaveOptions {
  readonly gains: GainSet;
  readonly untilMs: number;
  /** The outcome of the save. Undefined until the controller runs these gains or newer ones, or the save is refused. */
  saved?: Promise<SavedGains>;
}

/** Saves and trials of one unit's gains. */
export class UnitGains {
  readonly #parts: UnitParts;
  readonly #reconciler: Reconciler;
  /** In order of arrival. */
  #pending: readonly PendingSave[] = [];
  /** The turn that pending saves have asked for, until it begins. */
  #turn: Promise<void> | undefined;

  constructor(parts: UnitParts, reconciler: Reconciler) {
    this.#parts = parts;
    this.#reconciler = reconciler;
  }

  /**
   * Resolves when the gains are active in the controller and on the disk. The next save may stage while this one waits
   * for the disk.
   */
  async save(gains: GainSet, options: SaveOptions = {}): Promise<SavedGains> {
    const { unit, store, gate, emit } = this.#parts;
    const save: PendingSave = { ...options, gains, untilMs: gate.deadlineMs };
    try {
      this.#requireAllowed(save);
      gate.requireOnline();
      this.#pending = [...this.#pending, save];
      while (save.saved === undefined) await this.#shareTurn(save.untilMs);
      const after = await save.saved;
      const before = store.before(unit.name, after.revision);
      emit({ what: 'save', detail: { before: before.revision, after: after.revision } });
      return after;
    } catch (error) {
      await this.#reconciler.settle();
      throw error;
    }
  }

  /** All pending saves share the unit's next turn. Resolves when it has ended. */
  #shareTurn(untilMs: number): Promise<void> {
    const turn = () => {
      this.#turn = undefined;
      return this.#giveNewest();
    };
    this.#turn ??= this.#parts.gate.inTurn(turn, undefined, untilMs).catch(error => {
      this.#turn = undefined;
      this.#refuseDue(this.#pending, error);
    });
    return this.#turn;
  }

  /** Gives the controller the newest gains only. Each save is a revision. */
  async #giveNewest(): Promise<void> {
    const { unit, store, state } = this.#parts;
    const allowed: PendingSave[] = [];
    for (const save of this.#pending) {
      try {
        this.#requireAllowed(save);
        // The saves before it change the revision in force. Its base is compared once they are on the disk.
        if (save.baseRevision === undefined || allowed.length === 0) allowed.push(save);
      } catch (error) {
        this.#end(save, Promise.reject(error));
      }
    }
    const [oldest] = allowed;
    const newest = allowed.at(-1);
    if (oldest === undefined || newest === undefined) return;
    try {
      await this.#reconciler.applyGains(newest.gains, oldest.untilMs);
    } catch (error) {
      return this.#refuseDue(allowed, error);
    }
    for (const save of allowed) {
      // It timed out meanwhile.
      if (save.saved !== undefined) continue;
      state.gains.beginSave(save.gains);
      this.#end(
        save,
        store.save(unit.name, save.gains).finally(() => state.gains.endSave(save.gains)),
      );
    }
  }

  /** Refuses the oldest of these saves, and those that have timed out. The others get another turn. */
  #refuseDue(saves: readonly PendingSave[], error: unknown): void {
    const dueMs = Math.max(saves[0]?.untilMs ?? 0, this.#parts.clock.nowMs());
    for (const save of saves) if (save.untilMs <= dueMs) this.#end(save, Promise.reject(error));
  }

  #end(save: PendingSave, saved: Promise<SavedGains>): void {
    // The caller sees a rejection a little later, when the turn has ended.
    saved.catch(() => undefined);
    save.saved = saved;
    this.#pending = this.#pending.filter(one => one !== save);
  }

  /** Runs gains without saving them, until the trial ends or another trial with the same id takes its place. */
  async tryGains(trial: Trial, stillWanted?: () => void): Promise<void> {
    const { unit, store, state, controller, gate } = this.#parts;
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
        await this.#reconciler.mendExcitation(untilMs, true);
        await this.#reconciler.applyGains(trial.gains, untilMs);
        gate.requireNotOvertaken(act);
        stillWanted?.();
        noneEnded();
        state.gains.beginTrial(trial);
      });
    } catch (error) {
      await this.#reconciler.settle();
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
    await this.#reconciler.bringBack(why === 'ended' ? end : undefined);
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
