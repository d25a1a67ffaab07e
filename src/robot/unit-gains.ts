import type { Clock } from '../core/clock.js';
import { type GainsDifference, passes, RobotError } from '../core/errors.js';
import type { GainSet } from '../core/units.js';
import { changedLoops } from '../gains/changed-loops.js';
import type { GainsStore, SavedGains } from '../gains/gains-store.js';
import type { Origin } from '../gains/journal-line.js';
import type { MotorController } from './motor-controller.js';
import type { Reconciler } from './reconciler.js';
import type { Permission, RequestGate } from './request-gate.js';
import type { UnitState } from './unit-state.js';
import type { Trial } from './wanted.js';

interface SaveOptions extends Origin {
  /** The save is refused with `changed-meanwhile` if another revision is in force. */
  readonly baseRevision?: number | undefined;
  readonly stillWanted?: (() => void) | undefined;
}

/** A save on its way to the controller. */
interface PendingSave extends SaveOptions {
  readonly gains: GainSet;
}

interface GainsParts {
  readonly clock: Clock;
  readonly store: GainsStore;
  readonly permission: Permission;
  readonly state: UnitState;
  readonly controller: MotorController;
  readonly gate: RequestGate;
  readonly reconciler: Reconciler;
  /** Notes that a request was read which ends a trial. */
  readonly ended: () => void;
  /** Call this when a request is read. The check throws `too-late` if an end that was read before may be newer. */
  readonly notOlder: (sinceMs: number) => () => void;
}

/** Saves and trials of one unit's gains. */
export function unitGains(parts: GainsParts) {
  const { clock, controller, gate, permission, reconciler, notOlder, ended, state, store } = parts;
  const { name: unit } = state.unit;
  /**
   * Gives the controller the newest gains of all waiting saves, in one turn. Each save is a revision. The next save may
   * stage while earlier ones wait for the disk.
   */
  const share = gate.sharedTurns(
    async (own: PendingSave, waiting, untilMs) => {
      requireAllowed(own);
      // The earlier saves of this turn change the revision in force. So a save with a base revision waits for its own
      // turn, and its base is compared then.
      const others = waiting.filter(
        save => save !== own && save.baseRevision === undefined && passes(() => save.stillWanted?.()),
      );
      await reconciler.applyGains((others.at(-1) ?? own).gains, untilMs);
      return [own, ...others];
    },
    save => {
      const { gains } = save;
      state.take('save', { gains });
      return store.save(unit, gains, save).finally(() => state.take('save over', { gains }));
    },
  );

  /** Resolves when the gains are active in the controller and on the disk. */
  const save = async (gains: GainSet, options: SaveOptions = {}): Promise<SavedGains> => {
    const pending = { ...options, gains };
    try {
      requireAllowed(pending);
      const after = await share(pending);
      const before = store.before(unit, after.revision);
      state.emit({ what: 'save', detail: { before: before.revision, after: after.revision } });
      return after;
    } catch (error) {
      await reconciler.settle();
      throw error;
    }
  };

  /**
   * Runs gains without saving them, until the trial ends or another trial with the same id takes its place. `sinceMs` is the
   * earliest time at which the request may have come.
   */
  const tryGains = async (trial: Trial, stillWanted?: () => void, sinceMs = clock.nowMs()): Promise<void> => {
    const requireNewer = notOlder(sinceMs);
    try {
      await gate.request({ kind: 'trial' }, stillWanted, async (untilMs, requireAllowed) => {
        requireNewer();
        const { trial: running, saving } = state.wanted;
        const noneEnded = state.noneEnded();
        // Throws if the journal cannot be read, because the gains after the trial would be unknown.
        store.current(unit);
        if (running !== undefined && !isSameTrial(running, trial)) {
          throw new RobotError('trial-running', { unit, by: running.by });
        }
        // A pending save would end this trial as soon as the disk answers.
        if (saving.length > 0) throw new RobotError('unit-busy', { unit });
        // Fresh readings show which loops are already beyond their bound before the new gains run.
        if (running === undefined) state.sawReadings(await controller.telemetry(untilMs));
        await reconciler.mendExcitation(untilMs, true);
        await reconciler.applyGains(trial.gains, untilMs);
        requireAllowed();
        noneEnded();
        // The lease began when the request arrived. It may be over before the gains run.
        if (clock.nowMs() >= trial.endsAtMs) throw new RobotError('trial-ended');
        state.take('trial', trial);
      });
    } catch (error) {
      await reconciler.settle();
      throw error;
    }
  };

  /**
   * Resolves when the controller runs the gains that follow the trial: the saved ones, unless a save or another trial
   * has begun. Rejects as `bringBack` of the reconciler does. The trial is over even then.
   */
  const endTrial = async (): Promise<void> => {
    ended();
    const end = () => state.take('trial over', { why: 'ended' });
    end();
    // A trial that was requested earlier may begin while this waits for its turn. That trial is ended too.
    await reconciler.bringBack(end);
  };

  /**
   * Throws if the save is forbidden or its base has changed. A pending save may become the revision in force, so it
   * counts as a change.
   */
  const requireAllowed = ({ baseRevision, gains: sent, stillWanted }: PendingSave): void => {
    permission.require({ kind: 'save' });
    stillWanted?.();
    // Throws if the journal cannot be read, because the gains to restore would be unknown.
    const { revision, gains } = store.current(unit);
    if (baseRevision === undefined) return;
    if (revision === baseRevision && state.wanted.saving.length === 0) return;
    const difference = differenceOf(sent, gains);
    throw new RobotError('changed-meanwhile', { unit, revision, difference });
  };
  return { save, tryGains, endTrial };
}

/** The loops whose gains differ. */
function differenceOf(sent: GainSet, inForce: GainSet): Record<string, GainsDifference> {
  const difference: Record<string, GainsDifference> = {};
  for (const [loop, { before, after }] of Object.entries(changedLoops(inForce, sent))) {
    if (before !== null && after !== null) difference[loop] = { sent: after, inForce: before };
  }
  return difference;
}

/** An id belongs to the caller who began the trial: another caller who knows the id cannot renew it. */
function isSameTrial(one: Trial, other: Trial): boolean {
  return one.id === other.id && one.by === other.by && one.ofTuning === other.ofTuning;
}
