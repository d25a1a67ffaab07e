import { batch, computed, signal } from '@preact/signals';
import type { GainSet, Gains, Unit } from '../../core/units.js';
import type { Daemon } from '../daemon/daemon.js';
import type { Outcome } from '../daemon/request.js';
import { Act } from '../parts/act.js';
import {
  type Change,
  changeText,
  difference,
  type EditTexts,
  editState,
  realEdits,
  withChanges,
} from './edits.js';
import { Trial } from './trial.js';

/** The journal's gains and their revision. */
export interface Stored {
  readonly gains: GainSet;
  readonly revision: number;
}

/** Others saved a loop that is edited here; `theirs` is what they changed. */
export interface Conflict {
  readonly loop: string;
  readonly theirs: readonly Change[];
}

/** The edits of one unit as they outlive a reload. */
export interface KeptEdits {
  readonly texts: EditTexts;
  readonly base?: Stored;
}

const RETRY_MS = 1000;

/** The gains of one unit as the daemon keeps them, and what the person at this page makes of them. */
export class UnitGains {
  readonly unit: Unit;
  readonly stored = signal<Stored | undefined>(undefined);
  /** The gains that were in force when the page was opened. */
  readonly snapshot = signal<GainSet | undefined>(undefined);
  readonly kept = signal<KeptEdits>({ texts: {} });
  /** What the daemon refused of the last save, by the pointer of the field. */
  readonly refused = signal<Readonly<Record<string, string>>>({});
  readonly saving: Act;
  readonly trial: Trial;
  readonly edits = computed(() => {
    const gains = this.stored.value?.gains;
    return gains === undefined
      ? { changes: [], faults: {} }
      : editState(this.unit, gains, this.kept.value.texts);
  });
  readonly conflicts = computed<readonly Conflict[]>(() => {
    const [stored, { base, texts }] = [this.stored.value, this.kept.value];
    if (stored === undefined || base === undefined) return [];
    const changes = difference(this.unit, base.gains, stored.gains);
    const edited = new Set(Object.keys(texts).map(pointer => pointer.split('/')[1]));
    return this.unit.loops
      .filter(({ name }) => edited.has(name))
      .map(({ name }) => ({ loop: name, theirs: changes.filter(change => change.field.loop === name) }))
      .filter(({ theirs }) => theirs.length > 0);
  });
  readonly #daemon: Daemon;
  /** Names the gains that were fetched, by revision and time: no others have both, even in another state folder. */
  #loaded = '';

  constructor(unit: Unit, daemon: Daemon) {
    this.unit = unit;
    this.#daemon = daemon;
    this.saving = new Act(`${unit.title} gains`);
    this.trial = new Trial(unit, daemon);
  }

  /** Fetches what status says is stored, unless it was. */
  follow({ revision, savedAt }: { readonly revision: number; readonly savedAt: string | null }): void {
    const version = `${revision} ${savedAt}`;
    if (this.#loaded !== version) void this.#load(version, revision);
  }

  edit(pointer: string, text: string): void {
    const { [pointer]: _, ...refused } = this.refused.value;
    const stored = this.stored.value;
    const { texts, base = stored } = this.kept.value;
    this.refused.value = refused;
    this.kept.value = { texts: { ...texts, [pointer]: text }, base };
  }

  setTexts(texts: EditTexts): void {
    const base = this.stored.value;
    this.refused.value = {};
    this.kept.value = { texts, base };
  }

  /** One loop's gains as edits. */
  editLoop(loop: string, { kp, ki, kd }: Gains): void {
    this.edit(`/${loop}/kp`, String(kp));
    this.edit(`/${loop}/ki`, String(ki));
    this.edit(`/${loop}/kd`, String(kd));
    this.tidy();
  }

  get isSaving(): boolean {
    return this.saving.pending.value !== undefined;
  }

  /** There are edits, all of them can be sent, and none are on their way. */
  get isReady(): boolean {
    const { changes, faults } = this.edits.value;
    return changes.length > 0 && Object.keys(faults).length === 0 && !this.isSaving;
  }

  /** Runs the edits without saving them; without edits the trial goes on as it is. */
  async try(): Promise<void> {
    const gains = this.stored.value?.gains;
    if (gains !== undefined && this.isReady) {
      await this.trial.begin(withChanges(gains, this.edits.value.changes));
    }
  }

  /** The edits go, and what this page tries; not while they are saved. */
  async undo(): Promise<void> {
    if (this.isSaving) return;
    this.setTexts({});
    await this.trial.undo();
  }

  /** Drops texts that say nothing new. The others are edits of what is stored now, unless others changed what is edited here. */
  tidy(): void {
    const stored = this.stored.value;
    const { texts, base } = this.kept.value;
    if (stored === undefined) return;
    const real = realEdits(this.unit, stored.gains, texts);
    batch(() => {
      this.kept.value = { texts: real, base };
      if (this.conflicts.value.length > 0) return;
      this.kept.value = { texts: real, base: Object.keys(real).length > 0 ? stored : undefined };
    });
  }

  /** Saves the edits on the gains they were made on: another window may have made them on newer ones than are known here. */
  async save(): Promise<boolean> {
    const { texts, base = this.stored.value } = this.kept.value;
    if (base === undefined || !this.isReady) return false;
    // The daemon knows the gains by their number only, which others may have, as after a restart with another state folder.
    if (this.conflicts.value.length > 0) {
      this.saving.refuse({ code: 'changed-meanwhile', detail: '', errors: [] });
      return false;
    }
    const { changes } = editState(this.unit, base.gains, texts);
    const done = `Saved: ${changes.map(change => changeText(this.unit, change)).join('; ')}`;
    return this.saveSet(withChanges(base.gains, changes), done, base);
  }

  /** One loop, whatever else is edited. */
  saveLoop(loop: string, gains: Gains): Promise<boolean> {
    const stored = this.stored.value?.gains;
    if (stored === undefined) return Promise.resolve(false);
    const set = { ...stored, [loop]: gains };
    const changes = difference(this.unit, stored, set).map(change => changeText(this.unit, change));
    return changes.length === 0 ? Promise.resolve(true) : this.saveSet(set, `Saved: ${changes.join('; ')}`);
  }

  saveSet(gains: GainSet, done: string, from?: Stored): Promise<boolean> {
    return this.saveBy('save', done, base => this.#daemon.save(this.unit.name, gains, base), from);
  }

  /**
   * A save of any kind in place of the gains `from`, whose answer is the gains in force. The daemon refuses it where others
   * are in force by then, and gives it the next number.
   */
  async saveBy(
    what: string,
    done: string,
    request: (baseRevision: number) => Promise<Outcome<GainSet>>,
    from = this.stored.value,
  ): Promise<boolean> {
    if (from === undefined || this.isSaving) return false;
    return this.saving.run(
      what,
      async () => {
        const before = this.stored.peek();
        const outcome = await request(from.revision);
        if ('body' in outcome) {
          this.trial.drop();
          this.trial.act.clear();
          const loaded = this.stored.peek();
          const { texts, base } = this.kept.value;
          // What this save changed is no conflict. What others changed before stays one until somebody has decided about it.
          const changes = difference(this.unit, from.gains, outcome.body);
          this.kept.value = { texts, base: base && { ...base, gains: withChanges(base.gains, changes) } };
          this.take({ gains: outcome.body, revision: from.revision + 1 });
          // Gains that were loaded while the save was under way stay: they are newer, or status makes the page load ours next.
          if (loaded !== undefined && loaded !== before) this.take(loaded);
        } else {
          const { refusal } = outcome;
          this.refused.value = Object.fromEntries(refusal.errors.map(fault => [fault.pointer, fault.detail]));
          // It names the revision in force, of which a page that hears no status learns in no other way.
          if ('revision' in refusal) void this.#load(`${refusal.revision}`, Number(refusal.revision));
        }
        return outcome;
      },
      done,
    );
  }

  async #load(version: string, revision: number): Promise<void> {
    this.#loaded = version;
    const outcome = await this.#daemon.gains(this.unit.name);
    if (this.#loaded !== version) return;
    if ('refusal' in outcome) {
      setTimeout(() => {
        if (this.#loaded === version) void this.#load(version, revision);
      }, RETRY_MS);
      return;
    }
    this.snapshot.value ??= outcome.body;
    this.take({ gains: outcome.body, revision });
  }

  take(stored: Stored): void {
    batch(() => {
      this.stored.value = stored;
      this.refused.value = {};
      this.tidy();
    });
  }
}
