import { isGains, isObject } from '../core/json.js';
import { perUnit, UNIT_LIST, type UnitName } from '../core/units.js';
import type { Profile } from '../schemas/profile.js';

const FORMAT = 'trunnion profiles 1';

/** The profiles of each unit in the order in which they were first saved. */
export type Profiles = Readonly<Record<UnitName, readonly Profile[]>>;

/** All profiles as a text that a person can read. Loops that this version does not know stay in it. */
export function profilesText(profiles: Profiles): string {
  return `${JSON.stringify({ format: FORMAT, ...profiles }, null, 2)}\n`;
}

/** The profiles of such a text; undefined where it is none. */
export function profilesIn(text: string): Profiles | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (!isObject(value) || value.format !== FORMAT) return undefined;
    const lists = UNIT_LIST.map(({ name }) => value[name] ?? []);
    if (!lists.every((list): list is Profile[] => Array.isArray(list) && list.every(isProfile)))
      return undefined;
    return perUnit(unit => lists[UNIT_LIST.indexOf(unit)] ?? []);
  } catch {
    return undefined;
  }
}

function isProfile(value: unknown): value is Profile {
  return (
    isObject(value) &&
    typeof value.name === 'string' &&
    typeof value.note === 'string' &&
    typeof value.starred === 'boolean' &&
    typeof value.savedAt === 'string' &&
    isObject(value.gains) &&
    Object.values(value.gains).every(isGains)
  );
}
