import { join } from 'node:path';
import type { Clock } from '../core/clock.js';
import { isGains, isObject } from '../core/json.js';
import { perUnit, UNIT_LIST, type UnitName } from '../core/units.js';
import type { Profile } from '../schemas/profile.js';
import type { Disk } from '../storage/disk.js';
import { StateFile } from '../storage/state-file.js';

const FORMAT = 'trunnion profiles 1';

/** The profiles of each unit in the order in which they were first saved. */
export type Profiles = Readonly<Record<UnitName, readonly Profile[]>>;

/** All profiles as a text that a person can read. Loops that this version does not know stay in it. */
export function profilesText(profiles: Profiles): string {
  return `${JSON.stringify({ format: FORMAT, ...profiles }, null, 2)}\n`;
}

export function profilesPath(folder: string): string {
  return join(folder, 'profiles.json');
}

/** Nothing that moves depends on profiles, so that a file that cannot be read is refused and read again later. */
export function profilesFile(options: {
  folder: string;
  disk: Disk;
  clock: Clock;
  setAside: (copy: string) => void;
}): StateFile<Profiles> {
  const { folder, ...parts } = options;
  return new StateFile<Profiles>({
    ...parts,
    path: profilesPath(folder),
    codec: { encode: profiles => Buffer.from(profilesText(profiles)), decode: profilesIn },
    absent: perUnit(() => []),
  });
}

function profilesIn(content: Buffer): Profiles | undefined {
  try {
    const value: unknown = JSON.parse(content.toString());
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
