import { batch, computed, effect, signal } from '@preact/signals';
import { parsedJson } from '../../core/json.js';
import type { GainSet, Gains, Unit } from '../../core/units.js';
import { Action } from './action.js';
import {
  changeText,
  difference,
  type EditTexts,
  editState,
  fieldsOf,
  GAIN_NAMES,
  realEdits,
  storedValue,
  textsOf,
  withChanges,
} from './edits.js';
import { GainDoubts } from './gain-doubts.js';
import { OwnTrial } from './own-trial.js';
import { Part, type Whole } from './whole.js';

/** Saved gains and their revision. */
export interface Stored {
  readonly gains: GainSet;
  readonly revision: number;
}

/** The unsaved edits of one unit. They outlive a reload, and all windows of one browser share them. */
interface KeptEdits {
  readonly texts: EditTexts;
  /** The saved gains on which the edits are based. */
  readonly base?: Stored | undefined;
}

const KEY = 'trunnion.edits';
const RETRY_MS = 1000;

/** The saved gains of one unit, and the edits, trials and saves of the person at this page. */
export class GainEdits extends Part {
  readonly unit: Unit;
  readonly stored = signal<Stored | undefined>(undefined);
  /** The gains that were in force when the page was opened. */
  readonly atOpening = signal<GainSet | undefined>(undefined);
  readonly kept = signal<KeptEdits>({ texts: {} });
  /** The faults that the daemon found in the last save, by the pointer of the field. */
  readonly refused = signal<Readonly<Record<string, string>>>({});
  readonly saving: Action;
  readonly trial: OwnTrial;
  readonly doubts: GainDoubts;
  readonly edits = computed(() => {
    const gains = this.stored.value?.gains;
    const { texts } = this.kept.value;
    return { texts, ...(gains ? editState(this.unit, gains, texts) : { changes: [], faults: {} }) };
  });
  /**
   * The changes that another caller saved to loops that are edited here. The person decides once which gains
   * to keep.
   */
  readonly conflict = computed(() => {
    const [stored, { texts, base }] = [this.stored.value, this.kept.value];
    if (stored === undefined || base === undefined) return [];
    const edited = new Set(Object.keys(texts).map(pointer => pointer.split('/')[1]));
    return difference(this.unit, base.gains, stored.gains).filter(({ field }) => edited.has(field.loop));
  });
  /** What this page's last save did, in words, and the gains that it replaced. */
  readonly #lastSave = signal<{ readonly text: string; readonly replaced: Stored } | undefined>(undefined);
  /**
   * Revision and time of the gains that were fetched. The time counts too, because another state folder may
   * have the same revision.
   */
  #loaded = '';

  constructor(unit: Unit, whole: Whole) {
    super(whole);
    const { clock, storage } = whole;
    this.unit = unit;
    this.saving = new Action(clock, `${unit.title} gains`);
    this.trial = new OwnTrial(unit, whole);
    this.doubts = new GainDoubts(unit, clock, this.edits);
    const allKept = () => Object(parsedJson(storage.read(KEY)));
    storage.follow(KEY, () => {
      this.kept.value = readable(allKept()[unit.name]);
    });
    effect(() => {
      const text = JSON.stringify({ ...allKept(), [unit.name]: this.kept.value });
      if (storage.read(KEY) !== text) storage.write(KEY, text);
    });
  }

  /** Fetches the saved gains that status names, unless the page has them. */
  follow({ revision, savedAt }: { readonly revision: number; readonly savedAt: string | null }): void {
    const version = `${revision} ${savedAt}`;
    if (this.#loaded !== version) void this.#load(version, revision);
  }

  edit(pointer: string, text: string): void {
    const { [pointer]: _, ...refused } = this.refused.value;
    const { texts, base = this.stored.value } = this.kept.value;
    this.refused.value = refused;
    this.kept.value = { texts: { ...texts, [pointer]: text }, base };
    this.doubts.distrust(pointer);
  }

  setTexts(texts: EditTexts): void {
    this.refused.value = {};
    this.kept.value = { texts, base: this.stored.value };
  }

  /**
   * Replaces the edits by the differences between this set and the saved gains, if there are any. Returns their
   * number.
   */
  editSet(gains: GainSet): number {
    const changes = difference(this.unit, this.stored.value?.gains ?? gains, gains);
    if (changes.length > 0) {
      this.setTexts(textsOf(changes));
      this.doubts.trust();
    }
    return changes.length;
  }

  /** Turns the gains of one loop into edits. */
  editLoop(loop: string, gains: Gains): void {
    for (const gain of GAIN_NAMES) this.edit(`/${loop}/${gain}`, String(gains[gain]));
    this.doubts.trust(`/${loop}/`);
    this.tidy();
  }

  get isSaving(): boolean {
    return this.saving.pending.value;
  }

  /** True if there are edits, all of them are numbers, and none is being saved. */
  get isReady(): boolean {
    const { changes, faults } = this.edits.value;
    return changes.length > 0 && Object.keys(faults).length === 0 && !this.isSaving;
  }

  /** Starts a trial of the edits, which saves nothing. Does nothing unless `isReady`. */
  async try(): Promise<void> {
    const gains = this.stored.value?.gains;
    if (gains !== undefined && this.isReady && this.doubts.mayAct('Try'))
      await this.trial.begin(withChanges(gains, this.edits.value.changes));
  }

  /** Drops the edits and ends this page's trial, unless the edits are being saved. */
  async undo(): Promise<void> {
    if (this.isSaving) return;
    this.setTexts({});
    await this.trial.undo();
  }

  /**
   * Drops edits that equal the saved gains. Bases the other edits on the gains now in force, unless there is a
   * conflict.
   */
  tidy(): void {
    const stored = this.stored.value;
    const { texts, base } = this.kept.value;
    if (stored === undefined) return;
    const real = realEdits(this.unit, stored.gains, texts);
    batch(() => {
      this.kept.value = { texts: real, base };
      if (this.conflict.value.length > 0) return;
      this.kept.value = { texts: real, base: Object.keys(real).length > 0 ? stored : undefined };
    });
  }

  /**
   * Resolves the conflict. `mine` saves the edited loops with the values of this page. `theirs` drops the
   * edits of these loops.
   */
  async decide(whose: 'mine' | 'theirs'): Promise<void> {
    const stored = this.stored.value;
    const { texts, base } = this.kept.value;
    if (stored === undefined || base === undefined || this.isSaving) return;
    const loops = new Set(this.conflict.value.map(({ field }) => field.loop));
    const fields = fieldsOf(this.unit).filter(({ loop }) => loops.has(loop));
    const settled = { ...texts };
    for (const field of fields) {
      if (whose === 'theirs') delete settled[field.pointer];
      else settled[field.pointer] ??= String(storedValue(base.gains, field));
    }
    this.setTexts(settled);
    for (const { pointer } of fields) if (texts[pointer] === undefined) this.doubts.trust(pointer);
    this.tidy();
    if (whose === 'mine') await this.save();
  }

  /** Saves the edits. The daemon refuses the save if the gains in force are no longer the ones that were edited. */
  async save(): Promise<boolean> {
    const { texts, base = this.stored.value } = this.kept.value;
    if (base === undefined || !this.isReady) return false;
    // Another state folder may have the same revision, so the daemon could not notice the difference.
    if (this.conflict.value.length > 0) return false;
    if (!this.doubts.mayAct('Keep')) return false;
    const { changes } = editState(this.unit, base.gains, texts);
    return this.#saveSet(withChanges(base.gains, changes), base);
  }

  /**
   * Saves gains of some loops. Keeps the edits of other loops. Refuses if the page has the gains of another revision: the
   * gains of the other loops would be older or newer than the revision that the save replaces.
   */
  saveLoops(loops: GainSet, revision: number): Promise<boolean> {
    const stored = this.stored.value;
    if (stored?.revision === revision) return this.#saveSet({ ...stored.gains, ...loops }, stored);
    if (stored !== undefined && !this.isSaving)
      this.saving.refuse({ code: 'changed-meanwhile', detail: '', errors: [], revision: stored.revision });
    return Promise.resolve(false);
  }

  restore(revision: number): Promise<boolean> {
    const next = (this.stored.peek()?.revision ?? 0) + 1;
    const done = `Revision ${next} runs: the gains of revision ${revision}.`;
    return this.#saveBy('pidconfig/restore', { revision }, done);
  }

  /** This page's last save, unless another revision is in force by now. */
  get lastSave() {
    const last = this.#lastSave.value;
    return last && this.stored.value?.revision === last.replaced.revision + 1 ? last : undefined;
  }

  /** Saves the gains that this page's last save replaced. */
  undoSave(): Promise<boolean> {
    const { gains, revision } = this.lastSave?.replaced ?? {};
    if (gains === undefined) return Promise.resolve(false);
    return this.#saveBy('pidconfig', gains, `The gains of revision ${revision} run again.`);
  }

  loadProfile(name: string): Promise<boolean> {
    return this.#saveBy('profiles/load', { name }, `${name} is running.`);
  }

  #saveSet(gains: GainSet, from: Stored): Promise<boolean> {
    const changes = difference(this.unit, from.gains, gains).map(change => changeText(this.unit, change));
    return this.#saveBy('pidconfig', gains, `Saved: ${changes.join('; ')}.`, from);
  }

  /**
   * Sends a request that saves gains. The daemon refuses it if another revision than that of `from` is in
   * force. The answer is the gains in force.
   */
  async #saveBy(path: string, body: unknown, text: string, from = this.stored.value): Promise<boolean> {
    if (from === undefined || this.isSaving) return false;
    return this.saving.run(async () => {
      const before = this.stored.peek();
      const url = `/api/${this.unit.name}/${path}?baseRevision=${from.revision}`;
      const outcome = await this.whole.daemon.post<GainSet>(url, body);
      if ('body' in outcome) {
        this.#lastSave.value = { text, replaced: from };
        this.#saved(from, outcome.body, this.stored.peek() !== before);
      } else {
        const { errors, revision } = outcome.refusal;
        this.refused.value = Object.fromEntries(errors.map(fault => [fault.pointer, fault.detail]));
        // The refusal names the revision in force. The page loads that revision now, because it may receive no
        // status.
        if (revision !== undefined) void this.#load(`${revision}`, revision);
      }
      return outcome;
    });
  }

  take(stored: Stored): void {
    batch(() => {
      this.stored.value = stored;
      this.refused.value = {};
      this.tidy();
    });
    // The question about the conflict says the same.
    if (this.conflict.peek().length > 0) this.saving.clear(['changed-meanwhile']);
  }

  /** `isOlder`: newer gains arrived while the save was under way, or status will make the page load newer ones next. */
  #saved(from: Stored, gains: GainSet, isOlder: boolean): void {
    this.trial.drop();
    this.trial.action.clear();
    const { texts, base } = this.kept.value;
    // The changes of this save are no conflict. Earlier changes by other callers remain a conflict.
    const own = difference(this.unit, from.gains, gains);
    batch(() => {
      this.kept.value = {
        texts: realEdits(this.unit, gains, texts),
        base: base && { ...base, gains: withChanges(base.gains, own) },
      };
      if (isOlder) this.tidy();
      else this.take({ gains, revision: from.revision + 1 });
    });
  }

  async #load(version: string, revision: number): Promise<void> {
    this.#loaded = version;
    const outcome = await this.whole.daemon.get<GainSet>(`/api/${this.unit.name}/pidconfig`);
    if (this.#loaded !== version) return;
    if ('refusal' in outcome) {
      this.whole.clock.after(RETRY_MS, () => {
        if (this.#loaded === version) void this.#load(version, revision);
      });
      return;
    }
    this.atOpening.value ??= outcome.body;
    this.take({ gains: outcome.body, revision });
  }
}

/** Ignores values that another version or another program has stored. */
function readable(kept: unknown): KeptEdits {
  const { texts, base } = Object(kept);
  const pairs = Object.entries(Object(texts)).map(([pointer, text]) => [pointer, String(text)]);
  const gains: GainSet | undefined = Object(base).gains;
  return {
    texts: Object.fromEntries(pairs),
    base: gains && { gains, revision: Object(base).revision },
  };
}
