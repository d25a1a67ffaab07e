import type { Config } from '../config/settings.js';
import { endedWithin, type Timer } from '../core/clock.js';
import { type ContextOf, isRobotError, RobotError, succeeds } from '../core/errors.js';
import { Listeners } from '../core/listeners.js';
import { START_MS } from '../storage/disk.js';
import { replaceFile } from '../storage/durable-file.js';
import type { StateParts } from '../storage/state-file.js';
import { type Need, RIGHTS, type Right, ROLES, type Role } from './roles.js';
import { type Token, tokenOf } from './token.js';
import { encodeTokens, readTokens, tokenFile } from './token-file.js';

/** `unavailable`: the file of tokens is damaged or cannot be read, so its tokens are not known. */
type AccessState = 'open' | 'closed' | 'unavailable';

export interface Caller {
  /** Undefined if the caller came without a token, or with an unknown one. */
  readonly token: Token | undefined;
  readonly rights: readonly Right[];
}

/** A change of the file takes effect within this time. */
export const READ_AGAIN_MS = 500;
/** A timer that is later than this shows that the process was paused: tokens may have been removed meanwhile. */
const LATE_MS = 250;
/** After a pause, callers wait at most this long for the disk. */
const WAIT_MS = 200;

const CURE_OF_SLOW = 'The disk is too slow: check it.';
const CURE_OF_GONE =
  'It is gone and cannot be written again: bring it back, or sudo trunnion token add starts a new list.';
const NOBODY: Caller = { token: undefined, rights: [] };
/** The caller has a secret that belongs to no token. */
const STRANGER: Caller = { token: undefined, rights: [] };
/** Any caller while access is unavailable. Reading is safe and shows what is wrong. */
const READER: Caller = { token: undefined, rights: ['read'] };
const EVERYTHING: Caller = { token: undefined, rights: RIGHTS };
/** Root on the board. Root may write the list of tokens anyway. */
export const ROOT: Caller = { token: undefined, rights: RIGHTS };
const MAY_STOP: readonly Right[] = ['drive', 'rule'];

/** Undefined before the first read. */
type LastRead = readonly Token[] | 'damaged' | undefined;
type Settings = StateParts & Config['access'];

/** Errors of opening a file that exists but that the daemon may not read. */
const NOT_OURS: readonly string[] = ['EACCES', 'EISDIR', 'ENOLINK'];

/**
 * Decides who may do what. Access is open while there are no tokens. The file of tokens is read repeatedly, because
 * other programs change it.
 */
export class Access {
  /** Emitted when the tokens, the state or the problem have changed. */
  readonly changed = new Listeners<void>();
  /**
   * Emitted when the tokens in force or the state have changed. `kept` has the names of the tokens that stayed as they were.
   * `closes` is true if access was open before.
   */
  readonly tokensChanged = new Listeners<{ readonly kept: readonly string[]; readonly closes: boolean }>();
  readonly #settings: Settings;
  /** The list that was read last. It stays in force while the file cannot be read. Undefined before the first read. */
  #last: LastRead;
  #problem: RobotError<'access-unavailable'> | undefined = new RobotError('access-unavailable', {
    cure: CURE_OF_SLOW,
    isUnread: true,
  });
  /** The newest read, until it has ended. */
  #reading: Promise<void> | undefined;
  /** Until then callers wait for the newest read, because the process was paused. */
  #awaitedUntilMs = Number.NEGATIVE_INFINITY;
  #timer: Timer | undefined;
  #isEnded = false;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /**
   * Reads the file now, and then repeatedly. Never rejects. Access is unavailable until the file has been
   * read. Waits at most START_MS for a slow disk.
   */
  async open(): Promise<void> {
    const { clock } = this.#settings;
    this.#tick(clock.nowMs());
    await endedWithin(clock, START_MS, this.#reading ?? Promise.resolve());
  }

  close(): void {
    this.#isEnded = true;
    this.#timer?.cancel();
  }

  /** Undefined, unless callers wait for a read after a pause. Then this resolves when it has ended, or the disk takes too long. */
  current(): Promise<unknown> | undefined {
    const { clock } = this.#settings;
    const waitMs = this.#awaitedUntilMs - clock.nowMs();
    return waitMs > 0 && this.#reading !== undefined ? endedWithin(clock, waitMs, this.#reading) : undefined;
  }

  get state(): AccessState {
    if (this.#tokens === undefined) return 'unavailable';
    return this.#tokens.length > 0 || this.#settings.required ? 'closed' : 'open';
  }

  /** The tokens in force, without their hashes. */
  get tokens(): readonly { readonly name: string; readonly role: Role }[] {
    return (this.#tokens ?? []).map(({ name, role }) => ({ name, role }));
  }

  /** Why access is unavailable, or why the list in force can no longer be read. */
  get problem(): RobotError<'access-unavailable'> | undefined {
    return this.#problem;
  }

  /** The caller whose secret has this hash. Undefined stands for a caller without a secret. */
  callerOf(secretHash: string | undefined): Caller {
    if (this.state === 'open') return EVERYTHING;
    if (this.#tokens === undefined) return READER;
    if (secretHash === undefined) return NOBODY;
    const token = tokenOf(secretHash, this.#tokens);
    return token === undefined ? STRANGER : { token, rights: ROLES[token.role] };
  }

  allows(need: Need, { rights }: Caller): boolean {
    if (need === 'none') return true;
    if (need !== 'stop') return rights.includes(need);
    // While the tokens are unknown, anyone may stop the robot: a robot that nobody can stop is the greater danger.
    const isForAll = this.#settings.stop === 'anyone' || this.state === 'unavailable';
    return isForAll || MAY_STOP.some(right => rights.includes(right));
  }

  /** Throws `token-required`, `token-unknown`, `not-allowed` or `access-unavailable`. */
  require(need: Need, caller: Caller): void {
    if (this.allows(need, caller)) return;
    if (this.state === 'unavailable') throw this.#problem ?? new RobotError('access-unavailable');
    if (caller.token !== undefined) {
      const right = need === 'stop' ? MAY_STOP.join(' or ') : need;
      throw new RobotError('not-allowed', { right });
    }
    throw new RobotError(caller === STRANGER ? 'token-unknown' : 'token-required');
  }

  /** Reads the file again and again, one read at a time. */
  #tick(dueMs: number): void {
    const nowMs = this.#settings.clock.nowMs();
    this.#tickLater();
    const isLate = nowMs - dueMs > LATE_MS;
    // A read that was under way during a pause may be out of date.
    if (this.#reading !== undefined && !isLate) return;
    const reading = this.#readAfter(this.#reading);
    this.#reading = reading;
    if (isLate) this.#awaitedUntilMs = nowMs + WAIT_MS;
    void reading.then(() => {
      if (this.#reading !== reading) return;
      this.#reading = undefined;
      this.#awaitedUntilMs = Number.NEGATIVE_INFINITY;
      this.#tickLater();
    });
  }

  #tickLater(): void {
    this.#timer?.cancel();
    if (this.#isEnded) return;
    const { clock } = this.#settings;
    const dueMs = clock.nowMs() + READ_AGAIN_MS;
    this.#timer = clock.after(READ_AGAIN_MS, () => this.#tick(dueMs));
  }

  async #readAfter(before: Promise<void> | undefined): Promise<void> {
    if (before !== undefined) await before;
    const reading = this.#read();
    if (!(await endedWithin(this.#settings.clock, START_MS, reading)))
      this.#keep({ cure: CURE_OF_SLOW, isUnread: true });
    await reading;
  }

  async #read(): Promise<void> {
    const { disk, folder } = this.#settings;
    try {
      const tokens = await readTokens(disk, folder);
      // A list disappears only if something was deleted, moved or unmounted. That must not open the robot to
      // everybody, also not after a restart.
      if (tokens !== undefined || !this.#hadList) this.#hold(tokens ?? [], undefined);
      else if (await this.#putBack()) this.#hold(this.#last, undefined);
      else this.#keep({ cure: CURE_OF_GONE });
    } catch (error) {
      const isKnown = isRobotError(error, 'access-unavailable');
      const problem = isKnown ? error : new RobotError('access-unavailable', {}, { cause: error });
      const { context, cause } = problem;
      // The file exists, the daemon may not read it, and it may name tokens. So a robot without a list in
      // force must not stay open.
      const isNotOurs = isRobotError(cause, 'storage-failed') && NOT_OURS.includes(cause.context.errno ?? '');
      if (context.isUnread && (this.#hadList || !isNotOurs)) this.#keep(context, problem);
      else this.#hold('damaged', problem);
    }
  }

  /** Writes the list in force again. False if it is not known, or if the disk fails. */
  async #putBack(): Promise<boolean> {
    const { disk, folder } = this.#settings;
    if (this.#tokens === undefined) return false;
    return succeeds(replaceFile(disk, tokenFile(folder), [encodeTokens(this.#tokens)]));
  }

  /** Leaves the last list in force, because the file cannot be read now. */
  #keep(context: ContextOf<'access-unavailable'>, cause?: unknown): void {
    const lastHolds = this.#tokens !== undefined;
    this.#hold(this.#last, new RobotError('access-unavailable', { ...context, lastHolds }, { cause }));
  }

  #hold(last: LastRead, problem: RobotError<'access-unavailable'> | undefined): void {
    const wasOpen = this.state === 'open';
    const isOther = JSON.stringify(last) !== JSON.stringify(this.#last);
    const isOtherProblem = problem?.context.cure !== this.#problem?.context.cure;
    const before = this.#tokens ?? [];
    this.#last = last;
    this.#problem = problem;
    if (isOther) {
      const after = this.#tokens ?? before;
      // A new token may have the name of an old one, and an old one may have lost rights.
      const both = before.filter(old =>
        after.some(({ name, hash, role }) => name === old.name && hash === old.hash && role === old.role),
      );
      const kept = both.map(({ name }) => name);
      this.tokensChanged.emit({ kept, closes: wasOpen && this.state !== 'open' });
    }
    if (isOther || isOtherProblem) this.changed.emit();
  }

  get #tokens(): readonly Token[] | undefined {
    return this.#last === 'damaged' ? undefined : this.#last;
  }

  /** Whether there was a file that may name tokens. */
  get #hadList(): boolean {
    return this.#last === 'damaged' || (this.#last !== undefined && this.#last.length > 0);
  }
}
