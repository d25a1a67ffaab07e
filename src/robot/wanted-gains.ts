import { RobotError } from '../core/errors.js';
import type { GainSet, Unit } from '../core/units.js';
import { changedLoops } from '../gains/changed-loops.js';
import { gainsChecksum } from '../protocol/codec.js';
import type { TrialEnd, UnitEvent } from './robot-event.js';

/** Gains that a controller runs for a while without being saved. */
export interface Trial {
  readonly id: string;
  /** The name of the token that began the trial; without tokens, the address. */
  readonly by: string;
  /** Only the tuning itself changes its trial: it would judge gains that it never measured. */
  readonly ofTuning?: true;
  readonly gains: GainSet;
  /** The end in milliseconds of the clock; its owner can renew it. */
  readonly endsAtMs: number;
}

/** An id belongs to the caller who began the trial: another caller who knows the id cannot renew it. */
export function isSameTrial(one: Trial, other: Trial): boolean {
  return one.id === other.id && one.by === other.by && one.ofTuning === other.ofTuning;
}

export interface WantedGainsOptions {
  readonly unit: Unit;
  /** The gains of the journal; undefined while it cannot be read, and then the controller keeps what it has. */
  readonly saved: () => GainSet | undefined;
  readonly emit: (event: UnitEvent) => void;
}

/**
 * Which gains a controller should run: those of a save under way, or else those of a trial, or else those of the
 * journal.
 */
export class WantedGains {
  readonly #options: WantedGainsOptions;
  /** Gains of saves that the controller runs already and the disk has not confirmed yet, the newest last. */
  readonly #saving: GainSet[] = [];
  #trial: Trial | undefined;
  /** How often something happened that ends any trial, whether there was one or not. */
  #endings = 0;
  /** The checksums of sets that were compared before. Every poll compares. */
  readonly #checksums = new WeakMap<GainSet, number>();

  constructor(options: WantedGainsOptions) {
    this.#options = options;
  }

  /**
   * The gains to be given to a controller that shows this checksum as active; undefined where it runs the right ones.
   */
  missing(active: number): GainSet | undefined {
    return this.areWanted(active) ? undefined : this.#wanted;
  }

  /** Whether a controller that shows this checksum as active runs what it should. */
  areWanted(active: number): boolean {
    return this.#areActive(this.#wanted, active);
  }

  /** Whether a controller that shows this checksum as active runs the saved gains. */
  areSaved(active: number): boolean {
    return this.#areActive(this.#options.saved(), active);
  }

  get trial(): Trial | undefined {
    return this.#trial;
  }

  get savesPending(): boolean {
    return this.#saving.length > 0;
  }

  /** The controller runs these gains, and the disk does not have them yet. */
  beginSave(gains: GainSet): void {
    this.endTrial('saved');
    this.#saving.push(gains);
  }

  /** The disk has these gains, or refused them. */
  endSave(gains: GainSet): void {
    this.#saving.splice(this.#saving.indexOf(gains), 1);
  }

  /** Begins a trial, or renews the one under way, which may change its gains. */
  beginTrial(trial: Trial): void {
    const before = this.#trial;
    const { by } = trial;
    this.#trial = trial;
    const loops = before && Object.keys(changedLoops(before.gains, trial.gains));
    if (loops === undefined) this.#options.emit({ what: 'trial', detail: { by } });
    else if (loops.length > 0)
      this.#options.emit({ what: 'trial-changed', detail: { by, loops: loops.join(', ') } });
  }

  endTrial(why: TrialEnd): void {
    // A target that is lost says nothing against gains that do not run yet.
    if (this.#trial === undefined && why === 'target lost') return;
    this.#endings += 1;
    if (this.#trial === undefined) return;
    const { by } = this.#trial;
    this.#trial = undefined;
    this.#options.emit({ what: 'trial-ended', detail: { by, why } });
  }

  /**
   * Returns a check that throws `trial-ended` when something has happened since now that ends any trial. A trial that is
   * being begun or renewed must not outlive that either.
   */
  noneEnded(): () => void {
    const endings = this.#endings;
    return () => {
      if (this.#endings !== endings) throw new RobotError('trial-ended');
    };
  }

  get #wanted(): GainSet | undefined {
    return this.#saving.at(-1) ?? this.#trial?.gains ?? this.#options.saved();
  }

  #areActive(gains: GainSet | undefined, active: number): boolean {
    if (gains === undefined) return false;
    const checksum = this.#checksums.get(gains) ?? gainsChecksum(this.#options.unit, gains);
    this.#checksums.set(gains, checksum);
    return checksum === active;
  }
}
