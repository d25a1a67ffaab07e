import { isObject, parsedJson } from '../../core/json.js';
import { defaultGains, type GainSet, perUnit, type Unit, type UnitName } from '../../core/units.js';
import { loopNamed } from './loop-choice.js';
import { parseGain } from './numbers.js';

export const GAIN_NAMES = ['kp', 'ki', 'kd'] as const;

/** The unsaved texts of one unit's fields, by the JSON pointer of the gain. */
export type EditTexts = Readonly<Record<string, string>>;

export interface Field {
  readonly loop: string;
  readonly gain: (typeof GAIN_NAMES)[number];
  readonly pointer: string;
}

export interface Change {
  readonly field: Field;
  readonly from: number;
  readonly to: number;
}

export function fieldsOf(unit: Unit): Field[] {
  return unit.loops.flatMap(({ name }) =>
    GAIN_NAMES.map(gain => ({ loop: name, gain, pointer: `/${name}/${gain}` })),
  );
}

export function storedValue(gains: GainSet, field: Field): number {
  return gains[field.loop]?.[field.gain] ?? Number.NaN;
}

/**
 * The changes in these texts, and the faults of the other texts by the pointers of their fields. A text with the stored
 * value, such as `1.0` for 1, does not count as an edit.
 */
export function editState(unit: Unit, stored: GainSet, texts: EditTexts) {
  const changes: Change[] = [];
  const faults: Record<string, string> = {};
  for (const field of fieldsOf(unit)) {
    const text = texts[field.pointer];
    if (text === undefined) continue;
    const typed = parseGain(text);
    const from = storedValue(stored, field);
    if ('fault' in typed) faults[field.pointer] = typed.fault;
    else if (typed.value !== from) changes.push({ field, from, to: typed.value });
  }
  return { changes, faults };
}

/** The texts that are faulty, or that differ from the stored values. */
export function realEdits(unit: Unit, stored: GainSet, texts: EditTexts): EditTexts {
  const { changes, faults } = editState(unit, stored, texts);
  const pointers = new Set([...changes.map(change => change.field.pointer), ...Object.keys(faults)]);
  return Object.fromEntries(Object.entries(texts).filter(([pointer]) => pointers.has(pointer)));
}

export function withChanges(stored: GainSet, changes: readonly Change[]): GainSet {
  const result = { ...stored };
  for (const { field, to } of changes) {
    const loop = result[field.loop];
    if (loop !== undefined) result[field.loop] = { ...loop, [field.gain]: to };
  }
  return result;
}

/**
 * True if a gain has another sign than the stored one, is more than 5 times as large, or less than a fifth. If the stored
 * gain is 0: true if the new one is larger than the default. It may be a typing error.
 */
export function isDrastic(unit: Unit, { field, from, to }: Change): boolean {
  if (from === 0) return Math.abs(to) > Math.abs(storedValue(defaultGains(unit), field));
  const ratio = to / from;
  return ratio > 5 || ratio < 0.2;
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
  return `${loopNamed(unit, field.loop).title} ${field.gain} ${from} → ${to}`;
}

export type AllGains = Readonly<Record<UnitName, GainSet>>;
export type Imported = { readonly gains: AllGains } | { readonly faults: readonly string[] };

/** Parses a file of all gains. Rejects the whole file if it has any fault. */
export function importGains(text: string): Imported {
  const file = parsedJson(text);
  if (file === undefined) return { faults: ['This file is not JSON.'] };
  return isAllGains(file) ? { gains: file } : { faults: faultsOf(file) };
}

const isAllGains = (file: unknown): file is AllGains => faultsOf(file).length === 0;

/** Describes how a parsed file differs from a file of all gains: by a missing, mistyped or unknown member. */
function faultsOf(value: unknown, shape: object = perUnit(defaultGains), pointer = ''): string[] {
  if (!isObject(value)) return [`${pointer || 'the file'} is missing or not an object`];
  const strangers = Object.keys(value).filter(name => !Object.hasOwn(shape, name));
  return [
    ...strangers.map(name => `${pointer}/${name} is not known here`),
    ...Object.entries(shape).flatMap(([name, part]) => {
      const member = `${pointer}/${name}`;
      if (typeof part === 'object') return faultsOf(value[name], part, member);
      return Number.isFinite(value[name]) ? [] : [`${member} is missing or not a number`];
    }),
  ];
}
