import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../core/clock.js';
import { RobotError, succeeds } from '../core/errors.js';
import { isGains, isObject } from '../core/json.js';
import { Listeners } from '../core/listeners.js';
import { perUnit, type UnitName } from '../core/units.js';
import { WorkQueue } from '../core/work-queue.js';
import { MOST_PROFILES, type Profile } from '../schemas/profile.js';
import { refusal, storageFailure, tooSlow } from '../storage/disk.js';
import { type StateFile, type StateParts, stateFile } from '../storage/state-file.js';

const PROFILES_FILE = 'profiles.json';
const FORMAT = 'trunnion profiles 1';

/** The profiles of each unit, in the order of their first save. */
type Profiles = Readonly<Record<UnitName, readonly Profile[]>>;

/** What is asked for in place of the existing profile of that name. */
type Wanted = (replaced: Profile | undefined) => Omit<Profile, 'name' | 'savedAt'>;

interface Kept {
  readonly profile: Profile;
  readonly replaced: Profile | undefined;
}

/** All profiles as readable text. Unknown loops are kept. */
export function profilesText(profiles: Profiles): string {
  return `${JSON.stringify({ format: FORMAT, ...profiles }, null, 2)}\n`;
}

/** The longest wait for one read or write. */
const DISK_MS = 400;

/**
 * Named sets of gains, in a file beside the journal. Every method rejects with `storage-failed` if the disk fails or
 * is too slow. A refused change is undone. If undoing is not complete yet, the error has `mayRemain`: the change may
 * then be found after a restart.
 */
export class ProfileStore {
  /** Emitted when profiles have changed on the disk. */
  readonly changed = new Listeners<void>();
  readonly #file: StateFile<Profiles>;
  readonly #clock: Clock;
  readonly #queue = new WorkQueue();

  constructor(parts: StateParts) {
    // The file needs no fail-safe value, because nothing that moves depends on profiles.
    this.#file = stateFile<Profiles>(parts, {
      name: PROFILES_FILE,
      encode: profilesText,
      decode: profilesIn,
      absent: perUnit(() => []),
    });
    this.#clock = parts.clock;
  }

  all(): Promise<Profiles> {
    return this.#inTurn(() => this.#file.read(this.#file.isStuck ? 0 : DISK_MS));
  }

  async list(unit: UnitName): Promise<readonly Profile[]> {
    return (await this.all())[unit];
  }

  /** Rejects with `unknown-profile`. */
  async named(unit: UnitName, name: string): Promise<Profile> {
    return (await this.#find(unit, name)) ?? unknown(unit, name);
  }

  /** What `keep` would store and replace. Stores nothing. */
  async preview(unit: UnitName, name: string, asked: Wanted): Promise<Kept> {
    const replaced = await this.#find(unit, name);
    return { profile: { name, ...asked(replaced), savedAt: replaced?.savedAt ?? '' }, replaced };
  }

  /** Resolves when the profile is synced. Rejects with `profile-exists` unless `replace` is set, and with `too-many-profiles`. */
  keep(
    unit: UnitName,
    name: string,
    asked: Wanted,
    { replace }: { readonly replace: boolean },
  ): Promise<Kept> {
    return this.#change(unit, list => {
      const replaced = list.find(one => one.name === name);
      if (replaced !== undefined && !replace) throw new RobotError('profile-exists', { unit, name });
      const profile = { name, ...asked(replaced), savedAt: this.#clock.wallTime().toISOString() };
      const answer = { profile, replaced };
      if (replaced !== undefined) return { list: list.with(list.indexOf(replaced), profile), answer };
      if (list.length >= MOST_PROFILES) throw new RobotError('too-many-profiles', { unit });
      return { list: [...list, profile], answer };
    });
  }

  /** Rejects with `unknown-profile`. */
  star(unit: UnitName, name: string, starred: boolean): Promise<Profile> {
    return this.#change(unit, list => {
      const before = list.find(profile => profile.name === name) ?? unknown(unit, name);
      const after = { ...before, starred };
      return { list: list.with(list.indexOf(before), after), answer: after };
    });
  }

  /** Rejects with `unknown-profile`. */
  remove(unit: UnitName, name: string): Promise<void> {
    return this.#change(unit, list => {
      if (!list.some(profile => profile.name === name)) unknown(unit, name);
      return { list: list.filter(profile => profile.name !== name), answer: undefined };
    });
  }

  async #find(unit: UnitName, name: string): Promise<Profile | undefined> {
    return (await this.list(unit)).find(profile => profile.name === name);
  }

  /** Resolves when all requests have ended. */
  close(): Promise<void> {
    return this.#file.close();
  }

  #change<Answer>(
    unit: UnitName,
    change: (list: readonly Profile[]) => { readonly list: readonly Profile[]; readonly answer: Answer },
  ): Promise<Answer> {
    return this.#inTurn(async () => {
      const file = this.#file;
      if (file.isStuck) throw refusal(tooSlow('write', PROFILES_FILE), false);
      const before = await file.read(DISK_MS).catch(error => {
        throw refusal(storageFailure(error), false);
      });
      const { list, answer } = change(before[unit]);
      try {
        await file.save({ ...before, [unit]: list }, DISK_MS);
      } catch (error) {
        const isTakenBack = await succeeds(file.save(before, file.isStuck ? 0 : DISK_MS));
        throw refusal(storageFailure(error), !isTakenBack);
      }
      if (!isDeepStrictEqual(list, before[unit])) this.changed.emit();
      return answer;
    });
  }

  /** Runs `act` after all earlier acts. Rejects if its turn comes later than `DISK_MS`. */
  #inTurn<T>(act: () => Promise<T>): Promise<T> {
    const latestMs = this.#clock.nowMs() + DISK_MS;
    const inTime = () => {
      if (this.#clock.nowMs() > latestMs) throw refusal(tooSlow('read', PROFILES_FILE), false);
      return act();
    };
    return this.#queue.add(inTime);
  }
}

function unknown(unit: UnitName, name: string): never {
  throw new RobotError('unknown-profile', { unit, name });
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
