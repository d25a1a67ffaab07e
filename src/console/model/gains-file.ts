import { type GainSet, type Gains, perUnit, UNIT_LIST, type UnitName } from '../../core/units.js';
import { GAIN_NAMES } from './edits.js';

export type AllGains = Readonly<Record<UnitName, GainSet>>;
export type Imported = { readonly gains: AllGains } | { readonly faults: readonly string[] };

/** All gains as one file: what comes out of it is, number by number, what went in. */
export function exportGains(gains: AllGains): string {
  return `${JSON.stringify(gains, null, 2)}\n`;
}

/** Takes nothing of a file in which anything is wrong. */
export function importGains(text: string): Imported {
  let file: unknown;
  try {
    file = JSON.parse(text);
  } catch {
    return { faults: ['This file is not JSON.'] };
  }
  const faults = [
    ...strangers('', file, UNIT_LIST),
    ...UNIT_LIST.flatMap(({ name, loops }) => {
      const unit = member(file, name);
      return [
        ...strangers(`/${name}`, unit, loops),
        ...loops.flatMap(loop => tripleFaults(`/${name}/${loop.name}`, member(unit, loop.name))),
      ];
    }),
  ];
  if (faults.length > 0) return { faults };
  const gains = perUnit(({ name, loops }) =>
    Object.fromEntries(loops.map(loop => [loop.name, triple(member(member(file, name), loop.name))])),
  );
  return { gains };
}

function member(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.entries(value).find(([key]) => key === name)?.[1];
}

function strangers(pointer: string, value: unknown, known: readonly { readonly name: string }[]): string[] {
  if (typeof value !== 'object' || value === null)
    return [`${pointer || 'the file'} is missing or not an object`];
  return Object.keys(value)
    .filter(key => !known.some(({ name }) => name === key))
    .map(key => `${pointer}/${key} is not known here`);
}

function tripleFaults(pointer: string, value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [`${pointer} is missing`];
  return [
    ...strangers(
      pointer,
      value,
      GAIN_NAMES.map(name => ({ name })),
    ),
    ...GAIN_NAMES.filter(gain => !Number.isFinite(member(value, gain))).map(
      gain => `${pointer}/${gain} is missing or not a number`,
    ),
  ];
}

function triple(value: unknown): Gains {
  const gain = (name: string) => Number(member(value, name));
  return { kp: gain('kp'), ki: gain('ki'), kd: gain('kd') };
}
