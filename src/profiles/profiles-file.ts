import { isGains, isObject } from '../core/json.js';
import { perUnit, type UnitName } from '../core/units.js';
import type { Profile } from '../schemas/profile.js';
import { StateFile, type StateParts } from '../storage/state-file.js';

export const PROFILES_FILE = 'profiles.json';
const FORMAT = 'trunnion profiles 1';

/** The profiles of each unit, in the order of their first save. */
export type Profiles = Readonly<Record<UnitName, readonly Profile[]>>;

/** All profiles as readable text. Unknown loops are kept. */
export function profilesText(profiles: Profiles): string {
  return `${JSON.stringify({ format: FORMAT, ...profiles }, null, 2)}\n`;
}

/** The file needs no fail-safe value, because nothing that moves depends on profiles. */
export function profilesFile(parts: StateParts): StateFile<Profiles> {
  return new StateFile<Profiles>(parts, {
    name: PROFILES_FILE,
    encode: profilesText,
    decode: profilesIn,
    absent: perUnit(() => []),
  });
}

function profilesIn(text: string): Profiles {
  const value: unknown = JSON.parse(text);
  if (!isObject(value) || value.format !== FORMAT) throw new Error('not profiles');
  return perUnit(({ name }) => {
    const list = value[name] ?? [];
    if (Array.isArray(list) && list.every(isProfile)) return list;
    throw new Error(`no profiles of the ${name}`);
  });
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
