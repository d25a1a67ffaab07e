import { type GainsDifference, RobotError } from '../core/errors.js';
import type { GainSet, Unit } from '../core/units.js';
import { changedLoops } from '../gains/changed-loops.js';
import type { GainsStore, SavedGains } from '../gains/gains-store.js';
import type { Reconciler } from './reconciler.js';
import type { RequestGate } from './request-gate.js';
import type { TrialEnd, UnitEvent } from './robot-event.js';
import type { Trial } from './trial.js';
import type { UnitState } from './unit-state.js';

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
    const before = this.#store.current(name);
    let endSave: () => void = () => undefined;
    try {
      await this.#gate.request({ kind: 'save', unit: name }, stillWanted, async untilMs => {
        this.#requireRevision(baseRevision, gains);
        await this.#reconciler.applyGains(gains, untilMs);
        endSave = this.#state.gains.beginSave(gains);
      });
      const after = await this.#store.save(name, gains);
      endSave();
      this.#emit({ what: 'gains', before, after });
      return after;
    } catch (error) {
      endSave();
      await this.#settle();
      throw error;
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

  /** Resolves when the saved gains run again. Rejects as `MotorUnit.bringBack` does, and the trial is over all the same. */
  async endTrial(why: TrialEnd): Promise<void> {
    this.#state.gains.endTrial(why);
    await this.#bringBack();
  }

  /** A save that the disk has not confirmed may become the revision in force, so it counts as a change. */
  #requireRevision(baseRevision: number | undefined, sent: GainSet): void {
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
