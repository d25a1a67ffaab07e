import { type Deadline, type Deadlines, NEVER } from '../core/deadlines.js';
import { RobotError } from '../core/errors.js';
import type { GainSet, Unit } from '../core/units.js';
import { changedLoops } from '../gains/changed-loops.js';
import { gainsChecksum } from '../protocol/codec.js';
import type { TrialEnd, UnitEvent } from './robot-event.js';

/** Gains that a controller runs for a limited time without a save. */
export interface Trial {
  readonly id: string;
  /** The name of the token that began the trial. Without tokens, the address. */
  readonly by: string;
  /** Only the tuning itself may change its trial. Otherwise it would judge gains that it never measured. */
  readonly ofTuning?: true;
  readonly gains: GainSet;
  /** The time at which the trial ends (Clock milliseconds). The owner can renew the trial. */
  readonly endsAtMs: number;
}

interface WantedGainsOptions {
  readonly unit: Unit;
  readonly deadlines: Deadlines;
  /** The gains of the journal. Undefined while the journal cannot be read; the controller then keeps its gains. */
  readonly saved: () => GainSet | undefined;
  readonly emit: (event: UnitEvent) => void;
}

/**
 * The gains that a controller should run: those of a save under way, otherwise those of a trial, otherwise those of
 * the journal.
 */
export class WantedGains {
  readonly #options: WantedGainsOptions;
  /** Gains of saves that the controller runs already but the disk has not confirmed, newest last. */
  readonly #saving: GainSet[] = [];
  #trial: Trial | undefined;
  readonly #lease: Deadline;
  /** Counts the events that would end a trial, even if no trial was running. */
  #endings = 0;
  /** Caches the checksums of compared sets, because every poll compares. */
  readonly #checksums = new WeakMap<GainSet, number>();

  constructor(options: WantedGainsOptions) {
    this.#options = options;
    this.#lease = options.deadlines.make(() => this.endTrial('lease'));
  }

  /** The gains that the controller should run; undefined while the journal cannot be read. */
  get wanted(): GainSet | undefined {
    return this.#saving.at(-1) ?? this.trial?.gains ?? this.saved;
  }

  get saved(): GainSet | undefined {
    return this.#options.saved();
  }

  /** Whether a controller that shows this checksum as active runs these gains. */
  areActive(gains: GainSet | undefined, active: number | undefined): boolean {
    if (gains === undefined) return false;
    const checksum = this.#checksums.get(gains) ?? gainsChecksum(this.#options.unit, gains);
    this.#checksums.set(gains, checksum);
    return checksum === active;
  }

  get trial(): Trial | undefined {
    this.#options.deadlines.judge();
    return this.#trial;
  }

  get savesPending(): boolean {
    return this.#saving.length > 0;
  }

  /** Call this when the controller runs these gains and the disk has not confirmed them yet. */
  beginSave(gains: GainSet): void {
    this.endTrial('saved');
    this.#saving.push(gains);
  }

  /** Call this when the disk has confirmed or refused these gains. */
  endSave(gains: GainSet): void {
    this.#saving.splice(this.#saving.indexOf(gains), 1);
  }

  /** Begins a trial, or renews the current one. A renewal may change its gains. */
  beginTrial(trial: Trial): void {
    const before = this.trial;
    const { by } = trial;
    this.#trial = trial;
    this.#lease.set(trial.endsAtMs);
    const loops = before && Object.keys(changedLoops(before.gains, trial.gains));
    if (loops === undefined) this.#options.emit({ what: 'trial', detail: { by } });
    else if (loops.length > 0)
      this.#options.emit({ what: 'trial-changed', detail: { by, loops: loops.join(', ') } });
  }

  endTrial(why: TrialEnd): void {
    // A lost target is no reason to end a trial whose gains do not run yet.
    const { trial } = this;
    if (trial === undefined && why === 'target lost') return;
    this.#endings += 1;
    if (trial === undefined) return;
    const { by } = trial;
    this.#trial = undefined;
    this.#lease.set(NEVER);
    this.#options.emit({ what: 'trial-ended', detail: { by, why } });
  }

  /**
   * Returns a check that throws `trial-ended` if an event since this call would end any trial. The check also
   * covers a trial that is just being begun or renewed.
   */
  noneEnded(): () => void {
    const endings = this.#endings;
    return () => {
      this.#options.deadlines.judge();
      if (this.#endings !== endings) throw new RobotError('trial-ended');
    };
  }
}
