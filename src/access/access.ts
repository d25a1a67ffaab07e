import { type Clock, endedWithin, type Timer } from '../core/clock.js';
import { type ContextOf, isRobotError, RobotError } from '../core/errors.js';
import { Listeners } from '../core/listeners.js';
import { type Need, RIGHTS, type Right } from '../core/rights.js';
import { type Disk, START_MS } from '../storage/disk.js';
import { ROLES } from './roles.js';
import { type Token, tokenOf } from './token.js';
import { readTokens, tokenFile } from './token-file.js';

/** `unavailable`: the file of tokens is damaged or cannot be read, so nobody knows which tokens hold. */
type AccessState = 'open' | 'closed' | 'unavailable';

export interface Caller {
  /** Undefined where the caller came without a token. */
  readonly token: Token | undefined;
  readonly rights: readonly Right[];
}

/** A change of the file takes effect within this time. */
export const LOOK_AGAIN_MS = 250;

const CURE_OF_GONE = 'It is gone: bring it back, or sudo trunnion token add starts a new list.';
const MOST_KNOWN = 100;
const NOBODY: Caller = { token: undefined, rights: [] };
/** With a secret that is no token's. */
const STRANGER: Caller = { token: undefined, rights: [] };
/** The caller while access is unavailable: looking harms nobody and shows what is wrong. */
const LOOKER: Caller = { token: undefined, rights: ['read'] };
const EVERYTHING: Caller = { token: undefined, rights: RIGHTS };
const MAY_STOP: readonly Right[] = ['drive', 'rule'];

/**
 * Decides who may do what. It is open while there are no tokens. The file of tokens is read again and again, since
 * other programs change it.
 */
export class Access {
  /** Emitted when the tokens, the state or the problem have changed. */
  readonly changed = new Listeners<void>();
  /** Emitted when other tokens hold or the state has changed. */
  readonly tokensChanged = new Listeners<void>();
  /** Emitted when access was open and is not any more. */
  readonly closed = new Listeners<void>();
  readonly #disk: Disk;
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #required: boolean;
  readonly #stop: 'anyone' | 'token';
  /** The content that was read last, which holds while the file cannot be read; undefined before the first. */
  #last: readonly Token[] | 'damaged' | undefined;
  /** Callers by the secret with which they came before, so that it is hashed once and not for every request. */
  readonly #known = new Map<string, Caller>();
  #problem: RobotError<'access-unavailable'> | undefined = new RobotError('access-unavailable', {
    cure: 'The disk is too slow: check it.',
  });
  /** The stamp of the file at the last look, and the stamp of the file that need not be read again. */
  #stamp: string | undefined;
  #readStamp: string | undefined;
  #timer: Timer | undefined;
  #isEnded = false;

  constructor(options: {
    disk: Disk;
    folder: string;
    clock: Clock;
    /** Whether access is closed even while there is no token. */
    required: boolean;
    /** Who may stop the robot and darken the laser. */
    stop: 'anyone' | 'token';
  }) {
    this.#disk = options.disk;
    this.#folder = options.folder;
    this.#clock = options.clock;
    this.#required = options.required;
    this.#stop = options.stop;
  }

  /**
   * Reads the file, and goes on looking at it. Never rejects: what cannot be read makes access unavailable, and so does a
   * disk that is too slow, until it has answered.
   */
  async open(): Promise<void> {
    await endedWithin(this.#clock, START_MS, this.#watch());
  }

  close(): void {
    this.#isEnded = true;
    this.#timer?.cancel();
  }

  get state(): AccessState {
    if (this.#tokens === undefined) return 'unavailable';
    return this.#tokens.length > 0 || this.#required ? 'closed' : 'open';
  }

  /** The names of the tokens that hold. */
  get names(): readonly string[] {
    return (this.#tokens ?? []).map(({ name }) => name);
  }

  /** Why access is unavailable, or holds by a list that cannot be read any more. */
  get problem(): RobotError<'access-unavailable'> | undefined {
    return this.#problem;
  }

  /** The caller who comes with this secret, or without one. */
  callerOf(secret: string | undefined): Caller {
    const { state } = this;
    if (state === 'open') return EVERYTHING;
    if (state === 'unavailable') return LOOKER;
    if (secret === undefined) return NOBODY;
    const known = this.#known.get(secret);
    if (known !== undefined) return known;
    const token = tokenOf(secret, this.#tokens ?? []);
    if (token === undefined) return STRANGER;
    const caller = { token, rights: ROLES[token.role] };
    // The same token can be typed in many ways, so the number of known secrets is bounded.
    if (this.#known.size >= MOST_KNOWN) this.#known.clear();
    this.#known.set(secret, caller);
    return caller;
  }

  allows(need: Need, { rights }: Caller): boolean {
    if (need === 'none') return true;
    if (need !== 'stop') return rights.includes(need);
    // Without a list of tokens nobody can be asked for one, and a robot that cannot be stopped is the worse danger.
    return (
      this.#stop === 'anyone' ||
      this.state === 'unavailable' ||
      MAY_STOP.some(right => rights.includes(right))
    );
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

  async #watch(): Promise<void> {
    await this.#look();
    if (!this.#isEnded) this.#timer = this.#clock.after(LOOK_AGAIN_MS, () => void this.#watch());
  }

  async #look(): Promise<void> {
    const stamp = await this.#disk.stamp(tokenFile(this.#folder)).catch(() => undefined);
    if (stamp !== undefined && stamp === this.#readStamp) return;
    try {
      const tokens = await readTokens(this.#disk, this.#folder);
      // A list of tokens does not disappear by itself: its folder was deleted, moved or unmounted, and that must not
      // open the robot.
      if (tokens === undefined && this.#hadList) this.#keep({ cure: CURE_OF_GONE });
      else this.#hold(tokens ?? [], undefined);
      // Two writes at the same instant leave the same stamp, so a file that was only just written is read twice.
      this.#readStamp = stamp === this.#stamp ? stamp : undefined;
      this.#stamp = stamp;
    } catch (error) {
      this.#readStamp = undefined;
      const isOurs = isRobotError(error, 'access-unavailable');
      if (isOurs && error.context.isUnread) this.#keep(error.context, error);
      else this.#hold('damaged', isOurs ? error : unavailable({}, error));
    }
  }

  /** Keeps the content that was read last in force, although the file cannot be read now. */
  #keep(context: ContextOf<'access-unavailable'>, cause?: unknown): void {
    const lastHolds = this.#tokens !== undefined;
    this.#hold(this.#last, unavailable({ ...context, lastHolds }, cause));
  }

  #hold(
    last: readonly Token[] | 'damaged' | undefined,
    problem: RobotError<'access-unavailable'> | undefined,
  ): void {
    const [before, trouble] = [JSON.stringify(this.#last), this.#problem?.context.cure];
    const wasOpen = this.state === 'open';
    this.#last = last;
    this.#problem = problem;
    const isOther = JSON.stringify(last) !== before;
    if (isOther) {
      this.#known.clear();
      this.tokensChanged.emit();
    }
    if (wasOpen && this.state !== 'open') this.closed.emit();
    if (isOther || problem?.context.cure !== trouble) this.changed.emit();
  }

  get #tokens(): readonly Token[] | undefined {
    return this.#last === 'damaged' ? undefined : this.#last;
  }

  /** Whether there was a file that may name tokens. */
  get #hadList(): boolean {
    return this.#last === 'damaged' || (this.#last !== undefined && this.#last.length > 0);
  }
}

function unavailable(
  context: ContextOf<'access-unavailable'>,
  cause: unknown,
): RobotError<'access-unavailable'> {
  return new RobotError('access-unavailable', context, { cause });
}
