import { join } from 'node:path';
import { type Clock, endedWithin } from '../core/clock.js';
import { isRobotError, RobotError } from '../core/errors.js';
import { perUnit, type UnitName } from '../core/units.js';
import { MOST_PROFILES, type Profile } from '../schemas/profile.js';
import { damagedCopy } from '../storage/damaged-copy.js';
import type { Disk } from '../storage/disk.js';
import { changeFile, replaceFile } from '../storage/durable-file.js';
import { refusal, tooSlow } from '../storage/storage-failure.js';
import { type Profiles, profilesIn, profilesText } from './profiles-file.js';

const FILE = 'profiles.json';
/** Every caller is answered within this time, whatever the disk does. */
const ANSWER_MS = 500;

interface Turn {
  /** Whether the caller still waits, and has not been answered that the disk is too slow. */
  isAwaited: boolean;
  /** Whether the disk may have what the caller asked for. */
  mayRemain: boolean;
}

/**
 * Named sets of gains, in a file of their own that no compaction of the journal touches. It is read when somebody
 * first asks: nothing that moves depends on it. Every act rejects with `storage-failed` where the disk fails or is too
 * slow. What the disk has kept of it is taken back; where it refuses that, or has not come to it yet, the error has
 * `mayRemain`, and a restart may find the change.
 */
export class ProfileStore {
  readonly #path: string;
  readonly #disk: Disk;
  readonly #clock: Clock;
  readonly #setAside: (copy: string) => void;
  #profiles: Profiles | undefined;
  /** Reads and writes happen one after the other on this chain, which never rejects. */
  #work: Promise<unknown> = Promise.resolve();
  /**
   * Whether something was given up while the disk still works on it. Until that ends everything is refused at once, so
   * that nothing piles up.
   */
  #isStuck = false;

  /** `setAside` is called with the path of the copy of a damaged file. */
  constructor(options: { folder: string; disk: Disk; clock: Clock; setAside: (copy: string) => void }) {
    this.#path = join(options.folder, FILE);
    this.#disk = options.disk;
    this.#clock = options.clock;
    this.#setAside = options.setAside;
  }

  all(): Promise<Profiles> {
    return this.#inTurn('read', () => this.#read());
  }

  async list(unit: UnitName): Promise<readonly Profile[]> {
    return (await this.all())[unit];
  }

  async find(unit: UnitName, name: string): Promise<Profile | undefined> {
    return (await this.list(unit)).find(profile => profile.name === name);
  }

  /** Rejects with `unknown-profile`. */
  async named(unit: UnitName, name: string): Promise<Profile> {
    return (await this.find(unit, name)) ?? unknown(unit, name);
  }

  /**
   * Resolves when the profile is on the disk. `asked` makes it from the one of that name that it replaces. Rejects with
   * `profile-exists` unless it may `replace`, and with `too-many-profiles`.
   */
  keep(
    unit: UnitName,
    name: string,
    asked: (replaced: Profile | undefined) => Omit<Profile, 'name' | 'savedAt'>,
    { replace }: { readonly replace: boolean },
  ): Promise<{ readonly profile: Profile; readonly replaced: Profile | undefined }> {
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

  /** Resolves when everything that was asked before has ended. */
  async close(): Promise<void> {
    await this.#work;
  }

  #change<Answer>(
    unit: UnitName,
    change: (list: readonly Profile[]) => { readonly list: readonly Profile[]; readonly answer: Answer },
  ): Promise<Answer> {
    const done = this.#inTurn('write', async turn => {
      const found = await this.#read();
      const { list, answer } = change(found[unit]);
      const changed = { ...found, [unit]: list };
      if (!turn.isAwaited) return answer;
      turn.mayRemain = true;
      const before = Buffer.from(profilesText(found));
      await changeFile(this.#disk, this.#path, { before, after: Buffer.from(profilesText(changed)) });
      if (turn.isAwaited) this.#profiles = changed;
      else await replaceFile(this.#disk, this.#path, [before]);
      return answer;
    });
    return done.catch(error => {
      throw isRobotError(error, 'storage-failed') ? refusal(error, error.context.mayRemain ?? false) : error;
    });
  }

  /**
   * Reads the file. A damaged one is put aside, and the profiles begin anew; one that cannot be read stays as it is.
   */
  async #read(): Promise<Profiles> {
    if (this.#profiles !== undefined) return this.#profiles;
    const bytes = await this.#disk.read(this.#path);
    const found = bytes === undefined ? undefined : profilesIn(bytes.toString('utf8'));
    if (bytes !== undefined && found === undefined) {
      const copy = damagedCopy(this.#path, bytes);
      await this.#disk.rename(this.#path, copy);
      this.#setAside(copy);
    }
    this.#profiles = found ?? perUnit(() => []);
    return this.#profiles;
  }

  /** Runs `act` after all acts before it. */
  async #inTurn<T>(operation: 'read' | 'write', act: (turn: Turn) => Promise<T>): Promise<T> {
    const slow = tooSlow(operation, this.#path);
    if (this.#isStuck) throw slow;
    const turn: Turn = { isAwaited: true, mayRemain: false };
    const done = this.#work.then(() => act(turn));
    const end = () => {
      this.#isStuck = false;
    };
    this.#work = done.then(end, end);
    if (await endedWithin(this.#clock, ANSWER_MS, done)) return done;
    turn.isAwaited = false;
    this.#isStuck = true;
    throw turn.mayRemain ? refusal(slow, true) : slow;
  }
}

function unknown(unit: UnitName, name: string): never {
  throw new RobotError('unknown-profile', { unit, name });
}
