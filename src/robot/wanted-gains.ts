import type { GainSet } from '../core/units.js';
import type { TrialEnd, UnitEvent } from './robot-event.js';
import type { Trial } from './trial.js';

/** Which gains a controller should run: those of a save under way, else those of a trial, else the journal's. */
export class WantedGains {
  readonly #saved: () => GainSet | undefined;
  readonly #emit: (event: UnitEvent) => void;
  /** Saves that the controller runs already and the disk has not confirmed yet, the newest last. */
  readonly #saving: GainSet[] = [];
  #trial: Trial | undefined;

  /** `saved` gives the journal's, or undefined while they cannot be read: then the controller keeps what it has. */
  constructor(saved: () => GainSet | undefined, emit: (event: UnitEvent) => void) {
    this.#saved = saved;
    this.#emit = emit;
  }

  get current(): GainSet | undefined {
    return this.#saving.at(-1) ?? this.#trial?.gains ?? this.#saved();
  }

  get saved(): GainSet | undefined {
    return this.#saved();
  }

  get trial(): Trial | undefined {
    return this.#trial;
  }

  get savesPending(): boolean {
    return this.#saving.length > 0;
  }

  /** The controller runs these gains, and the disk does not have them yet. Returns the act that ends this. */
  beginSave(gains: GainSet): () => void {
    this.endTrial('saved');
    this.#saving.push(gains);
    return () => {
      this.#saving.splice(this.#saving.indexOf(gains), 1);
    };
  }

  /** A trial with the id of the one under way renews it, or changes its gains. */
  beginTrial(trial: Trial): void {
    if (this.#trial?.id !== trial.id) this.#emit({ what: 'trial', by: trial.by });
    this.#trial = trial;
  }

  endTrial(why: TrialEnd): void {
    if (this.#trial === undefined) return;
    const { by } = this.#trial;
    this.#trial = undefined;
    this.#emit({ what: 'trial', by, ended: why });
  }
}
