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
  const faults: string[] = [];
  /** The members of an object; what is missing, or not known here, is a fault. */
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
