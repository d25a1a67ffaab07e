import { signal } from '@preact/signals';
import type { Clock, Timer } from '../../core/clock.js';
import { Fate, isUnanswered, type Outcome, type Send, TAKEN_BACK } from './request.js';

/** After this time, a person may no longer want what was pressed. */
export const WANTED_MS = 60_000;

export const STOP = '/api/stop';
export const LASER = '/api/laser';

/** What a press asks of the robot. */
export interface Ask {
  readonly path: string;
  readonly method?: 'POST' | 'DELETE';
  readonly body?: unknown;
  /**
   * `insists`: retried until it is answered. `moves`: sent once, and never while a STOP is unanswered.
   * `calms`: sent once, even while a STOP is unanswered.
   */
  readonly rule: 'insists' | 'moves' | 'calms';
  /** Only for `insists`: expires WANTED_MS after the press if it is unanswered. */
  readonly expires?: boolean;
  /** Only for `insists`: gets the result. Without it, the press has a fate of its own. */
  readonly fate?: Fate;
  /** Which unanswered older asks of the same path this one takes back. By default all of them. */
  readonly replaces?: (older: Ask) => boolean;
  /** The path of another ask, which is no longer wanted once this ask is done. */
  readonly ends?: string;
  /**
   * The value of `presses` when the person pressed. A later STOP drops the ask. The default is the number of this
   * press.
   */
  readonly since?: number;
}

/** One press on its way. */
export interface Press {
  readonly ask: Ask;
  readonly number: number;
  /** Wall time in ms. The page's clock may stop while a phone sleeps. */
  readonly pressedMs: number;
  /** Only for `insists`. */
  readonly fate: Fate | undefined;
  /** The number of attempts. */
  sent: number;
  sentMs: number;
  /** The caller's rights at the latest attempt. */
  rights: string | undefined;
  /** Gives the result to the caller, who knows the type of the answer. */
  settle(outcome: Outcome<unknown>): void;
}

/** A press that is retried. */
export type Insisting = Press & { readonly fate: Fate };

const insists = (press: Press | undefined): press is Insisting => press?.fate !== undefined;

export interface AskOptions {
  readonly clock: Clock;
  /** The caller's rights. Undefined until they are known. */
  readonly rights: () => string | undefined;
  readonly send: Send;
}

/** The interval in which waiting asks are checked. */
const TICK_MS = 100;

/** What this page wants of the robot, and the results so far. Decides what is sent, retried and dropped. */
export class Asks {
  readonly #options: AskOptions;
  /** The newest press of each path. */
  readonly #newest = new Map<string, Press>();
  /** Requests without an answer, oldest first. */
  readonly #requests = new Map<AbortController, Press>();
  /** Changes with each press. */
  readonly #changes = signal(0);
  #tick: Timer | undefined;
  #presses = 0;
  #lastStop = 0;

  constructor(options: AskOptions) {
    this.#options = options;
  }

  /**
   * The number of presses so far. An ask that must wait passes it on as `since`, so that a STOP in the meantime drops
   * the ask.
   */
  get presses(): number {
    return this.#presses;
  }

  /**
   * The newest press of this path. Undefined if its ask does not insist (such as an On after an Off), or if it was
   * forgotten.
   */
  insisting(path: string): Insisting | undefined {
    this.#changes.value;
    const press = this.#newest.get(path);
    return insists(press) ? press : undefined;
  }

  press<T>(ask: Ask): Promise<Outcome<T>> {
    return new Promise(resolve => {
      this.#presses += 1;
      this.#begin({
        ask,
        number: this.#presses,
        pressedMs: this.#wallMs,
        fate: ask.rule === 'insists' ? (ask.fate ?? new Fate()) : undefined,
        sent: 0,
        sentMs: 0,
        rights: undefined,
        settle: (outcome: Outcome<T>) => resolve(outcome),
      });
    });
  }

  /** Drops the result of an ask that is no longer pending. */
  forget(path: string): void {
    if (this.#newest.get(path)?.fate?.state.peek() !== 'pending') this.#newest.delete(path);
    this.#changed();
  }

  /**
   * Sends what is due, and drops what is no longer wanted. Called as time passes, and whenever data comes from the
   * daemon.
   */
  pass(isHeard: boolean): void {
    for (const press of this.#waiting) {
      // If the clock was set back, the press seems to be in the future. It counts as expired then.
      const isOld = Math.abs(this.#wallMs - press.pressedMs) > WANTED_MS;
      if (isOld && (press.fate.state.peek() === 'refused' || press.ask.expires)) this.#expire(press);
      else if (this.#isDue(press, isHeard)) {
        press.fate.state.value = 'pending';
        void this.#send(press);
      }
    }
    this.#watch();
  }

  #begin(press: Press): void {
    const { path, rule, since = press.number } = press.ask;
    const isStopping = rule === 'moves' && this.insisting(STOP)?.fate.state.peek() === 'pending';
    if (isStopping || this.#lastStop > since) {
      press.settle({ refusal: TAKEN_BACK });
      return;
    }
    if (path === STOP) this.#lastStop = press.number;
    const before = this.insisting(path);
    this.#takeBack(older => excludes(press.ask, older.ask));
    if (before?.fate.state.peek() === 'pending') before.settle({ refusal: TAKEN_BACK });
    this.#newest.set(path, press);
    void this.#send(press);
  }

  async #send(press: Press): Promise<void> {
    const { clock, rights, send } = this.#options;
    const { path, method = 'POST', body } = press.ask;
    const ending = new AbortController();
    press.sent += 1;
    press.sentMs = clock.nowMs();
    press.rights = rights();
    this.#requests.set(ending, press);
    this.#changed();
    const outcome = await send(method, path, body, { signal: ending.signal, deadlineMs: deadlineMs(press) });
    if (this.#requests.delete(ending)) this.#answer(press, outcome);
  }

  #answer(press: Press, outcome: Outcome<unknown>): void {
    const { path, rule, ends } = press.ask;
    const isDone = 'body' in outcome;
    if (rule === 'insists' && isUnanswered(outcome)) return;
    press.fate?.settle(outcome);
    // After one success, older requests for the same path are needless. They could undo what a person asks next.
    if (rule === 'insists' && isDone)
      this.#takeBack(one => one.ask.path === path && one.number <= press.number);
    if (ends !== undefined && isDone) {
      this.#takeBack(one => one.ask.path === ends);
      this.#newest.delete(ends);
    }
    press.settle(outcome);
    this.#changed();
  }

  #expire(press: Insisting): void {
    this.#takeBack(one => one.ask.path === press.ask.path);
    press.fate.state.value = 'expired';
    press.settle({ refusal: TAKEN_BACK });
    this.#changed();
  }

  #isDue({ fate, sent, sentMs, rights }: Insisting, isHeard: boolean): boolean {
    if (fate.state.peek() === 'refused') return this.#options.rights() !== rights;
    return this.#options.clock.nowMs() - sentMs >= (isHeard ? FIRST_PAUSE_MS : pauseMs(sent));
  }

  #takeBack(which: (press: Press) => boolean): void {
    for (const [ending, press] of this.#requests) {
      if (!which(press)) continue;
      this.#requests.delete(ending);
      ending.abort();
      if (press.ask.rule !== 'insists') press.settle({ refusal: TAKEN_BACK });
    }
  }

  /** The asks that may be retried. */
  get #waiting(): Insisting[] {
    return [...this.#newest.values()].filter(insists).filter(({ fate: { state, refusal } }) => {
      return state.peek() === 'pending' || (state.peek() === 'refused' && refusal?.isIdentity);
    });
  }

  get #wallMs(): number {
    return this.#options.clock.wallTime().getTime();
  }

  #changed(): void {
    this.#changes.value = this.#changes.peek() + 1;
    this.#watch();
  }

  #watch(): void {
    if (this.#waiting.length === 0) return;
    this.#tick ??= this.#options.clock.after(TICK_MS, () => {
      this.#tick = undefined;
      this.pass(false);
    });
  }
}

/** For an ask that renews what an older one began. */
export const replacesNothing = () => false;

/** Whether a late request of `older` could undo `ask`. A late STOP or Off does no harm. */
function excludes(ask: Ask, older: Ask): boolean {
  if (ask.rule === 'insists' && older.rule === 'insists') return false;
  if (ask.path === STOP) return true;
  return ask.path === older.path && (ask.replaces?.(older) ?? true);
}

const FIRST_PAUSE_MS = 300;

/** The pause before the next attempt of an ask that insists. */
function pauseMs(sent: number): number {
  return sent === 1 ? FIRST_PAUSE_MS : sent < 20 ? 500 : 2000;
}

/** The time limit of an attempt. The daemon answers a STOP within 800 ms. After 20 attempts the network may be slow. */
function deadlineMs({ ask, sent }: Press): number | undefined {
  if (ask.rule !== 'insists') return undefined;
  return sent < 20 ? 1500 : 10_000;
}
