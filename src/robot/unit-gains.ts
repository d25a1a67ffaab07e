import { type GainsDifference, RobotError } from '../core/errors.js';
import type { GainSet, Unit } from '../core/units.js';
import { changedLoops } from '../gains/changed-loops.js';
import type { GainsStore, SavedGains } from '../gains/gains-store.js';
import type { Reconciler } from './reconciler.js';
import type { RequestGate } from './request-gate.js';
import type { TrialEnd, UnitEvent } from './robot-event.js';
import type { Trial } from './trial.js';
import type { UnitState } from './unit-state.js';

/** A save that waits for the unit's turn, and what goes on with it then. */
interface WaitingSave {
  readonly gains: GainSet;
  readonly baseRevision: number | undefined;
  readonly stillWanted: (() => void) | undefined;
  readonly untilMs: number;
  /** The controller runs these gains, or newer ones that share the turn. Gets the act that ends the save. */
  readonly given: (endSave: () => void) => void;
  readonly refused: (error: unknown) => void;
}

/** Saves and trials of one unit's gains. */
export class UnitGains {
  readonly #unit: Unit;
  readonly #store: GainsStore;
  readonly #state: UnitState;
  readonly #reconciler: Reconciler;
  readonly #gate: RequestGate;
  readonly #emit: (event: UnitEvent) => void;
  /** Mends at once what a refused request may have left in the controller. */
  readonly #settle: () => Promise<void>;
  readonly #bringBack: () => Promise<void>;
  #waiting: WaitingSave[] = [];

  constructor(options: {
    unit: Unit;
    store: GainsStore;
    state: UnitState;
    reconciler: Reconciler;
    gate: RequestGate;
    emit: (event: UnitEvent) => void;
    settle: () => Promise<void>;
    bringBack: () => Promise<void>;
  }) {
    this.#unit = options.unit;
    this.#store = options.store;
    this.#state = options.state;
    this.#reconciler = options.reconciler;
    this.#gate = options.gate;
    this.#emit = options.emit;
    this.#settle = options.settle;
    this.#bringBack = options.bringBack;
  }

  /**
   * Resolves when the gains are active in the controller and on the disk. The next save may stage meanwhile. With
   * `baseRevision`, another revision in force is refused with `changed-meanwhile`.
   */
  async save(
    gains: GainSet,
    { baseRevision, stillWanted }: { baseRevision?: number | undefined; stillWanted?: () => void } = {},
  ): Promise<SavedGains> {
    const { name } = this.#unit;
    let endSave: () => void = () => undefined;
    try {
      endSave = await new Promise<() => void>((given, refused) => {
        const untilMs = this.#gate.deadlineMs;
        this.#giveInTurn({ gains, baseRevision, stillWanted, untilMs, given, refused });
      });
      const after = await this.#store.save(name, gains);
      endSave();
      this.#emit({ what: 'gains', before: this.#store.before(name, after.revision), after });
      return after;
    } catch (error) {
      endSave();
      await this.#settle();
      throw error;
    }
  }

  /** Saves that wait for the unit share the next turn: the controller gets the newest gains only, and each is a revision. */
  #giveInTurn(save: WaitingSave): void {
    try {
      this.#gate.requireOnline();
      this.#gate.require({ kind: 'save', unit: this.#unit.name }, save.stillWanted);
    } catch (error) {
      save.refused(error);
      return;
    }
    this.#waiting.push(save);
    const { untilMs } = save;
    if (this.#waiting.length > 1) return;
    const turn = this.#gate.inTurn(
      () => undefined,
      () => this.#give(this.#waiting.splice(0), untilMs),
      untilMs,
    );
    turn.catch(error => this.#refuse(this.#waiting.splice(0), untilMs, error));
  }

  async #give(saves: readonly WaitingSave[], untilMs: number): Promise<void> {
    const allowed: WaitingSave[] = [];
    const next: WaitingSave[] = [];
    for (const save of saves) {
      try {
        this.#gate.require({ kind: 'save', unit: this.#unit.name }, save.stillWanted);
        this.#requireRevision(save);
        // Whether its base is still in force is known when those before it have been saved.
        if (save.baseRevision !== undefined && allowed.length > 0) next.push(save);
        else allowed.push(save);
      } catch (error) {
        save.refused(error);
      }
    }
    const newest = allowed.at(-1);
    if (newest === undefined) return;
    try {
      await this.#reconciler.applyGains(newest.gains, untilMs);
      for (const { gains, given } of allowed) given(this.#state.gains.beginSave(gains));
    } catch (error) {
      this.#refuse(allowed, untilMs, error);
    }
    for (const save of next) this.#giveInTurn(save);
  }

  /** Those who came later than the first have time for another turn. */
  #refuse(saves: readonly WaitingSave[], untilMs: number, error: unknown): void {
    for (const save of saves) {
      if (save.untilMs > untilMs) this.#giveInTurn(save);
      else save.refused(error);
    }
  }

  /** Runs gains without saving them, until the trial ends or another one of the same id takes its place. */
  async tryGains(trial: Trial, stillWanted?: () => void): Promise<void> {
    try {
      await this.#gate.request({ kind: 'trial', unit: this.#unit.name }, stillWanted, async untilMs => {
        const running = this.#state.gains.trial;
        if (running !== undefined && running.id !== trial.id) {
          throw new RobotError('trial-running', { unit: this.#unit.name, by: running.by });
        }
        // A save whose disk answers would take the place of the trial that was begun meanwhile.
        if (this.#state.gains.savesPending) throw new RobotError('unit-busy', { unit: this.#unit.name });
        await this.#reconciler.guard(this.#state.guardInTrials, untilMs);
        await this.#reconciler.applyGains(trial.gains, untilMs);
        // What ends a trial does not wait for the turn of the request that renews it.
        if (this.#state.gains.trial !== running) throw new RobotError('trial-ended');
        if (this.#state.latch.isWanted) throw new RobotError('stopped');
        this.#state.gains.beginTrial(trial);
      });
    } catch (error) {
      await this.#settle();
      throw error;
    }
  }

  /** Resolves when what is wanted after it runs: the saved gains, unless a save or the next trial has begun. Rejects as `MotorUnit.bringBack` does, and the trial is over all the same. */
  async endTrial(why: TrialEnd): Promise<void> {
    this.#state.gains.endTrial(why);
    await this.#bringBack();
  }

  /** A save that the disk has not confirmed may become the revision in force, so it counts as a change. */
  #requireRevision({ baseRevision, gains: sent }: WaitingSave): void {
    if (baseRevision === undefined) return;
    const { name: unit } = this.#unit;
    const { revision, gains } = this.#store.current(unit);
    if (revision === baseRevision && !this.#state.gains.savesPending) return;
    throw new RobotError('changed-meanwhile', { unit, revision, difference: differenceOf(sent, gains) });
  }
}

/** The loops whose gains are not alike. */
function differenceOf(sent: GainSet, inForce: GainSet): Record<string, GainsDifference> {
  const difference: Record<string, GainsDifference> = {};
  for (const [loop, { before, after }] of Object.entries(changedLoops(inForce, sent))) {
    if (before !== null && after !== null) difference[loop] = { sent: after, inForce: before };
  }
  return difference;
}
