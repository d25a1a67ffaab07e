import { Listeners } from '../core/listeners.js';
import { type GainSet, perUnit, UNIT_LIST, type UnitName, unitNamed } from '../core/units.js';
import type { Api, Outcome, Refusal } from './api.js';
import { type EditState, type EditTexts, editState, realEdits, withChanges } from './edits.js';
import type { LoopChoice } from './loop-choice.js';
import type { Status } from './robot-state.js';

/** Gains and status as this page knows them, and the edits of the person at it. */
export interface UnitModel {
  /** The journal's gains; undefined until the daemon told them. */
  readonly stored: GainSet | undefined;
  /** As they were when the page was opened. */
  readonly snapshot: GainSet | undefined;
  readonly texts: EditTexts;
  /** Of the last save, by pointer. */
  readonly refused: Readonly<Record<string, string>>;
}

const EMPTY: UnitModel = { stored: undefined, snapshot: undefined, texts: {}, refused: {} };
const KEY = 'trunnion.edits';
const RETRY_MS = 1000;

export class Model {
  status: Status | undefined;
  /** What `status` says is known to hold now. */
  fresh = false;
  /** Not listening, because other windows do. */
  resting = false;
  readonly openedAt = new Date();
  choice: LoopChoice = { unit: 'gimbal', loop: 'angle_yaw' };
  readonly units: Record<UnitName, UnitModel> = perUnit(() => EMPTY);
  readonly changed = new Listeners<void>();
  /** Which gains were fetched: revision and time tell them apart, even across state folders. */
  readonly #loaded: Partial<Record<UnitName, string>> = {};
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
    this.#restoreTexts();
    window.addEventListener('storage', event => {
      if (event.key !== KEY) return;
      this.#restoreTexts();
      this.changed.emit();
    });
  }

  setStatus(status: Status): void {
    this.status = status;
    for (const { name } of UNIT_LIST) {
      const { revision, savedAt } = status[name].gains;
      const version = `${revision} ${savedAt}`;
      if (this.#loaded[name] !== version) void this.#load(name, version);
    }
    this.changed.emit();
  }

  setFresh(fresh: boolean): void {
    this.fresh = fresh;
    this.changed.emit();
  }

  setResting(resting: boolean): void {
    this.resting = resting;
    this.changed.emit();
  }

  choose(choice: LoopChoice): void {
    this.choice = choice;
    this.changed.emit();
  }

  editsOf(name: UnitName): EditState {
    const { stored, texts } = this.units[name];
    return stored === undefined ? { changes: [], faults: {} } : editState(unitNamed(name), stored, texts);
  }

  edit(name: UnitName, pointer: string, text: string): void {
    const { [pointer]: _, ...refused } = this.units[name].refused;
    this.#change(name, { texts: { ...this.units[name].texts, [pointer]: text }, refused });
  }

  setTexts(name: UnitName, texts: EditTexts): void {
    this.#change(name, { texts, refused: {} });
  }

  /** Drops texts that say nothing new. */
  tidy(name: UnitName): void {
    const { stored, texts } = this.units[name];
    if (stored !== undefined) this.#change(name, { texts: realEdits(unitNamed(name), stored, texts) });
  }

  async save(name: UnitName): Promise<Refusal | undefined> {
    const { stored } = this.units[name];
    if (stored === undefined) return undefined;
    return this.#took(name, await this.#post(name, withChanges(stored, this.editsOf(name).changes)));
  }

  async saveSet(name: UnitName, gains: GainSet): Promise<Refusal | undefined> {
    return this.#took(name, await this.#post(name, gains));
  }

  async restore(name: UnitName, revision: number): Promise<Refusal | undefined> {
    return this.#took(name, await this.#api.post<GainSet>(`/api/${name}/pidconfig/restore`, { revision }));
  }

  #post(name: UnitName, gains: GainSet): Promise<Outcome<GainSet>> {
    return this.#api.post<GainSet>(`/api/${name}/pidconfig`, gains);
  }

  #took(name: UnitName, outcome: Outcome<GainSet>): Refusal | undefined {
    if ('refusal' in outcome) {
      const { errors } = outcome.refusal;
      this.#change(name, { refused: Object.fromEntries(errors.map(fault => [fault.pointer, fault.detail])) });
      return outcome.refusal;
    }
    this.#change(name, { stored: outcome.body, refused: {} });
    this.tidy(name);
    return undefined;
  }

  async #load(name: UnitName, version: string): Promise<void> {
    this.#loaded[name] = version;
    const outcome = await this.#api.get<GainSet>(`/api/${name}/pidconfig`);
    if (this.#loaded[name] !== version) return;
    if ('refusal' in outcome) {
      setTimeout(() => void this.#load(name, version), RETRY_MS);
      return;
    }
    const stored = outcome.body;
    this.#change(name, { stored, snapshot: this.units[name].snapshot ?? stored });
  }

  #change(name: UnitName, change: Partial<UnitModel>): void {
    this.units[name] = { ...this.units[name], ...change };
    if (change.texts !== undefined) this.#keepTexts();
    this.changed.emit();
  }

  #keepTexts(): void {
    try {
      localStorage.setItem(KEY, JSON.stringify(perUnit(({ name }) => this.units[name].texts)));
    } catch {
      // A browser that keeps nothing still edits.
    }
  }

  #restoreTexts(): void {
    try {
      const kept = JSON.parse(localStorage.getItem(KEY) ?? '{}');
      for (const { name } of UNIT_LIST) {
        const texts = Object.entries(kept[name] ?? {}).map(([pointer, text]) => [pointer, String(text)]);
        this.units[name] = { ...this.units[name], texts: Object.fromEntries(texts) };
      }
    } catch {
      // What cannot be read was not ours.
    }
  }
}
