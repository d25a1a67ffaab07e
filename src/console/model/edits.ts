import type { Unit } from '../../core/units.js';
import { type GainSet, type Gains, perUnit, UNIT_LIST, type UnitName } from '../../core/units.js';
import { parseGain } from './numbers.js';

export const GAIN_NAMES = ['kp', 'ki', 'kd'] as const satisfies readonly (keyof Gains)[];
export type GainName = (typeof GAIN_NAMES)[number];

/** Unsaved texts of one unit's fields, by the JSON pointer of the gain. */
export type EditTexts = Readonly<Record<string, string>>;

export interface Field {
  readonly loop: string;
  readonly gain: GainName;
  readonly pointer: string;
}

export interface Change {
  readonly field: Field;
  readonly from: number;
  readonly to: number;
}

export interface EditState {
  readonly changes: readonly Change[];
  /** What is wrong with a text, by the pointer of its field. */
  readonly faults: Readonly<Record<string, string>>;
}

export function fieldsOf(unit: Unit): Field[] {
  return unit.loops.flatMap(({ name }) =>
    GAIN_NAMES.map(gain => ({ loop: name, gain, pointer: `/${name}/${gain}` })),
  );
}

export function storedValue(gains: GainSet, field: Field): number {
  return gains[field.loop]?.[field.gain] ?? Number.NaN;
}

/** A text with the stored value, such as `1.0` for 1, is no change. */
export function editState(unit: Unit, stored: GainSet, texts: EditTexts): EditState {
  const changes: Change[] = [];
  const faults: Record<string, string> = {};
  for (const field of fieldsOf(unit)) {
    const text = texts[field.pointer];
    if (text === undefined) continue;
    const parsed = parseGain(text);
    const from = storedValue(stored, field);
    if ('fault' in parsed) faults[field.pointer] = parsed.fault;
    else if (parsed.value !== from) changes.push({ field, from, to: parsed.value });
  }
  return { changes, faults };
}

/** The texts that differ from what is stored. */
export function realEdits(unit: Unit, stored: GainSet, texts: EditTexts): EditTexts {
  const { changes, faults } = editState(unit, stored, texts);
  const pointers = new Set([...changes.map(change => change.field.pointer), ...Object.keys(faults)]);
  return Object.fromEntries(Object.entries(texts).filter(([pointer]) => pointers.has(pointer)));
}

export function withChanges(stored: GainSet, changes: readonly Change[]): GainSet {
  const result: Record<string, Gains> = { ...stored };
  for (const { field, to } of changes) {
    const loop = result[field.loop];
    if (loop !== undefined) result[field.loop] = { ...loop, [field.gain]: to };
  }
  return result;
}

/** A change of sign, or by more than a factor of 3: possibly a typing error. */
export function isDrastic({ from, to }: Change): boolean {
  if (from * to < 0) return true;
  return from !== 0 && to !== 0 && Math.abs(Math.log(to / from)) > Math.log(3) + 1e-9;
}

/** The fields in which two sets of gains differ. */
export function difference(unit: Unit, from: GainSet, to: GainSet): Change[] {
  return fieldsOf(unit)
    .map(field => ({ field, from: storedValue(from, field), to: storedValue(to, field) }))
    .filter(change => !Object.is(change.from, change.to) && change.from !== change.to);
}

export function textsOf(changes: readonly Change[]): EditTexts {
  return Object.fromEntries(changes.map(({ field, to }) => [field.pointer, String(to)]));
}

export function changeText(unit: Unit, { field, from, to }: Change): string {
  const title = unit.loops.find(loop => loop.name === field.loop)?.title ?? field.loop;
  return `${title} ${field.gain} ${from} → ${to}`;
}

export type AllGains = Readonly<Record<UnitName, GainSet>>;
export type Imported = { readonly gains: AllGains } | { readonly faults: readonly string[] };

/** All gains as one file. Importing it gives exactly the same numbers. */
export function exportGains(gains: AllGains): string {
  return `${JSON.stringify(gains, null, 2)}\n`;
}

/** Rejects the whole file if it has any fault. */
export function importGains(text: string): Imported {
  const faults: string[] = [];
  /** The members of an object. Unknown members are faults. */
  const membersOf = (value: unknown, pointer: string, known: readonly string[]): Map<string, unknown> => {
    const members = new Map<string, unknown>(Object.entries(Object(value)));
    if (typeof value !== 'object' || value === null)
      faults.push(`${pointer || 'the file'} is missing or not an object`);
    const strangers = [...members.keys()].filter(name => !known.includes(name));
    faults.push(...strangers.map(name => `${pointer}/${name} is not known here`));
    return members;
  };
  const gainsOf = (value: unknown, pointer: string): Gains => {
    const members = membersOf(value, pointer, GAIN_NAMES);
    const gain = (name: string) => {
      const value = members.get(name);
      if (!Number.isFinite(value)) faults.push(`${pointer}/${name} is missing or not a number`);
      return Number(value);
    };
    return { kp: gain('kp'), ki: gain('ki'), kd: gain('kd') };
  };
  try {
    const file = membersOf(
      JSON.parse(text),
      '',
      UNIT_LIST.map(({ name }) => name),
    );
    const gains = perUnit(({ name: unit, loops }) => {
      const names = loops.map(({ name }) => name);
      const set = membersOf(file.get(unit), `/${unit}`, names);
      return Object.fromEntries(names.map(name => [name, gainsOf(set.get(name), `/${unit}/${name}`)]));
    });
    return faults.length > 0 ? { faults } : { gains };
  } catch {
    return { faults: ['This file is not JSON.'] };
  }
}
