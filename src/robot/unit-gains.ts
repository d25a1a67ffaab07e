import type { Clock } from '../core/clock.js';
import { type GainsDifference, RobotError } from '../core/errors.js';
import type { GainSet, Unit } from '../core/units.js';
import { changedLoops } from '../gains/changed-loops.js';
import type { GainsStore, SavedGains } from '../gains/gains-store.js';
import type { Permission } from './permission.js';
import type { Reconciler } from './reconciler.js';
import type { RequestGate } from './request-gate.js';
import type { TrialEnd, UnitEvent } from './robot-event.js';
import type { UnitState } from './unit-state.js';
import type { UnitSupervision } from './unit-supervision.js';
import { isSameTrial, type Trial } from './wanted-gains.js';

/** The caller of a failed save waits at most this long for the saved gains to be back; later polls go on trying. */
const BRING_BACK_MS = 100;

/** A save that waits for the unit's turn, with the acts that end its waiting. */
interface WaitingSave {
  readonly gains: GainSet;
  readonly baseRevision: number | undefined;
  readonly stillWanted: (() => void) | undefined;
  readonly untilMs: number;
  /**
   * Called when the controller runs these gains, or newer ones that share the turn. Its argument is the act that ends
   * the save.
   */
  readonly given: (endSave: () => void) => void;
  readonly refused: (error: unknown) => void;
}

/** Saves and trials of one unit's gains. */
export class UnitGains {
  readonly #unit: Unit;
  readonly #store: GainsStore;
  readonly #permission: Permission;
  readonly #state: UnitState;
  readonly #reconciler: Reconciler;
  readonly #gate: RequestGate;
  readonly #emit: (event: UnitEvent) => void;
  readonly #supervision: UnitSupervision;
  readonly #clock: Clock;
  #waiting: WaitingSave[] = [];

  constructor(options: {
    unit: Unit;
    store: GainsStore;
    permission: Permission;
    state: UnitState;
    reconciler: Reconciler;
    gate: RequestGate;
    emit: (event: UnitEvent) => void;
    supervision: UnitSupervision;
    clock: Clock;
  }) {
    this.#unit = options.unit;
    this.#store = options.store;
    this.#permission = options.permission;
    this.#state = options.state;
    this.#reconciler = options.reconciler;
    this.#gate = options.gate;
    this.#emit = options.emit;
    this.#supervision = options.supervision;
    this.#clock = options.clock;
  }

  /**
   * Resolves when the gains are active in the controller and on the disk. The next save may stage while this one waits
   * for the disk. With `baseRevision`, the save is refused with `changed-meanwhile` where another revision is in force.
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
        const save = { gains, baseRevision, stillWanted, untilMs, given, refused };
        this.#requireAllowed(save);
        this.#gate.requireOnline();
        this.#wait([...this.#waiting, save]);
      });
      const after = await this.#store.save(name, gains);
      endSave();
      this.#emit({ what: 'gains', before: this.#store.before(name, after.revision), after });
      return after;
    } catch (error) {
      endSave();
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
    const turn = this.#gate.inTurn(
      () => undefined,
      () => this.#give(this.#waiting.splice(0)),
      first.untilMs,
    );
    turn.catch(error => this.#wait(refuseDue(this.#waiting.splice(0), first.untilMs, error)));
  }

  async #give(saves: readonly WaitingSave[]): Promise<void> {
    const allowed: WaitingSave[] = [];
    const again: WaitingSave[] = [];
    for (const save of saves) {
      try {
        this.#requireAllowed(save);
        // Its base is compared again once the saves before it are on the disk, for they change the revision in force.
        if (save.baseRevision !== undefined && allowed.length > 0) again.push(save);
        else allowed.push(save);
      } catch (error) {
        save.refused(error);
      }
    }
    const newest = allowed.at(-1);
    if (newest === undefined) return;
    const untilMs = Math.min(...allowed.map(save => save.untilMs));
    try {
      await this.#reconciler.applyGains(newest.gains, untilMs);
      for (const { gains, given } of allowed) given(this.#state.gains.beginSave(gains));
    } catch (error) {
      again.push(...refuseDue(allowed, untilMs, error));
    }
    // They go before those that came meanwhile, so that older gains never replace newer ones.
    this.#wait([...saves.filter(save => again.includes(save)), ...this.#waiting]);
  }

  /** Runs gains without saving them, until the trial ends or another trial with the same id takes its place. */
  async tryGains(trial: Trial, stillWanted?: () => void): Promise<void> {
    const act = { kind: 'trial' } as const;
    try {
      await this.#gate.request(act, stillWanted, async untilMs => {
        const { gains: wanted } = this.#state;
        const running = wanted.trial;
        const noneEnded = wanted.noneEnded();
        // This throws where the journal cannot be read, for nobody would know which gains come after the trial.
        this.#store.current(this.#unit.name);
        if (running !== undefined && !isSameTrial(running, trial)) {
          throw new RobotError('trial-running', { unit: this.#unit.name, by: running.by });
        }
        // A save that still waits for the disk would end this trial as soon as the disk answers.
        if (wanted.savesPending) throw new RobotError('unit-busy', { unit: this.#unit.name });
        // Fresh readings show which loops are past their bound already; these gains are not to blame for those.
        if (running === undefined) await this.#supervision.takeReadings({ priority: 'gains', untilMs });
        await this.#reconciler.mendExcitation(untilMs, true);
        await this.#reconciler.applyGains(trial.gains, untilMs);
        this.#gate.requireNotOvertaken(act);
        stillWanted?.();
        noneEnded();
        wanted.beginTrial(trial);
      });
    } catch (error) {
      await this.settle();
      throw error;
    }
  }

  /**
   * Resolves when the controller runs what follows the trial: the saved gains, unless a save or another trial has
   * begun. Rejects as `bringBack` does, and the trial is over all the same.
   */
  async endTrial(why: TrialEnd): Promise<void> {
    const end = () => this.#state.gains.endTrial(why);
    end();
    // A trial that was asked for earlier may begin while this waits for its turn. Whoever ended the trial wants none,
    // so it is ended once more in the turn.
    await this.bringBack(why === 'ended' ? end : undefined);
  }

  /**
   * Takes back at once what refused requests may have left in the controller, as far as it can be reached. Never
   * rejects.
   */
  async settle(): Promise<void> {
    if (this.#supervision.online) await this.#reconciler.settle(this.#clock.nowMs() + BRING_BACK_MS);
  }

  /**
   * Waits for the unit's turn, and resolves when the controller shows everything that is wanted of it. Rejects with
   * `not-confirmed` where that does not happen in time; polls go on trying then. `first` is called in the turn.
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
      throw new RobotError('not-confirmed', { unit: this.#unit.name, ended: true }, { cause });
    }
  }

  /**
   * Throws where the save is forbidden or its base has changed. A save that the disk has not confirmed yet may become
   * the revision in force, so it counts as a change.
   */
  #requireAllowed({ baseRevision, gains: sent, stillWanted }: WaitingSave): void {
    const { name: unit } = this.#unit;
    this.#permission.require({ kind: 'save' });
    stillWanted?.();
    // This throws where the journal cannot be read, for nobody would know which gains to go back to.
    const { revision, gains } = this.#store.current(unit);
    if (baseRevision === undefined) return;
    if (revision === baseRevision && !this.#state.gains.savesPending) return;
    throw new RobotError('changed-meanwhile', { unit, revision, difference: differenceOf(sent, gains) });
  }
}

/** Refuses the saves whose time is over at `nowMs`. Returns the others, which have time for another turn. */
function refuseDue(saves: readonly WaitingSave[], nowMs: number, error: unknown): WaitingSave[] {
  for (const { untilMs, refused } of saves) if (untilMs <= nowMs) refused(error);
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
