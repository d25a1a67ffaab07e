import { signal } from '@preact/signals';
import type { Clock, Timer } from '../../core/clock.js';
import { isUnanswered, type Outcome, type Refusal, TAKEN_BACK } from './request.js';

/** A person may no longer want what was pressed longer ago than this. */
export const WANTED_MS = 60_000;

export const STOP = '/api/stop';

/** What a press asks of the robot. Asks with the same path exclude one another: the newest press counts. */
export interface Ask {
  readonly path: string;
  readonly method?: 'POST' | 'DELETE';
  readonly body?: unknown;
  /** `insists`: sent again until it is answered. `moves`: sent once, and never while a STOP has no answer. `calms`: sent once. */
  readonly rule: 'insists' | 'moves' | 'calms';
  /** Of an ask that insists: expires without an answer WANTED_MS after the press. */
  readonly expires?: boolean;
  /** Renews what an older ask began. A renewal replaces no other ask. */
  readonly renews?: boolean;
  /** The path of an ask that is no longer wanted once this one is done. */
  readonly ends?: string;
  /** The number of presses when the person pressed; by default this one is the newest. */
  readonly since?: number;
}

/** One press, and what is known of it. */
export interface Press {
  readonly ask: Ask;
  readonly number: number;
  /** Calendar time in ms: the page's clock may stop while a phone sleeps. */
  readonly pressedMs: number;
  /** `expired`: without an answer, or refused for a missing right, for WANTED_MS. */
  state: 'pending' | 'done' | 'refused' | 'expired';
  refusal: Refusal | undefined;
  /** How often it was sent. */
  sent: number;
  sentMs: number;
  /** The rights of the caller when it was sent last. */
  rights: string | undefined;
  /** Tells the caller, who knows the type of the answer. */
  settle(outcome: Outcome<unknown>): void;
}

interface AskOptions {
  readonly clock: Clock;
  /** The caller's rights; undefined as long as they are unknown. */
  readonly rights: () => string | undefined;
  readonly send: (press: Press, signal: AbortSignal) => Promise<Outcome<unknown>>;
}

/** How often asks that wait are looked after. */
const TICK_MS = 100;

/** What this page wants of the robot, and what it has heard of each wish: what is sent, sent again and taken back. */
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

  /** The number of presses so far. */
  get presses(): number {
    return this.#presses;
  }

  /** The newest press of the path if it insists. */
  insisting(path: string): Press | undefined {
    this.#changes.value;
    return this.#insisting(path);
  }

  press<T>(ask: Ask): Promise<Outcome<T>> {
    return new Promise(resolve => {
      this.#presses += 1;
      this.#begin({
        ask,
        number: this.#presses,
        pressedMs: this.#wallMs,
        state: 'pending',
        refusal: undefined,
        sent: 0,
        sentMs: 0,
        rights: undefined,
        settle: (outcome: Outcome<T>) => resolve(outcome),
      });
    });
  }

  /** Drops the result of an ask that is no longer pending. */
  forget(path: string): void {
    if (this.#newest.get(path)?.state !== 'pending') this.#newest.delete(path);
    this.#changed();
  }

  /** Time has passed, or something came from the daemon: sends what is due, and ends what is no longer wanted. */
  pass(isHeard: boolean): void {
    for (const press of this.#waiting) {
      // If the clock was set back, the press seems to be in the future. It counts as old, too.
      const isOld = Math.abs(this.#wallMs - press.pressedMs) > WANTED_MS;
      if (isOld && (press.state === 'refused' || press.ask.expires)) this.#expire(press);
      else if (this.#isDue(press, isHeard)) {
        press.state = 'pending';
        void this.#send(press);
      }
    }
    this.#watch();
  }

  #begin(press: Press): void {
    const { path, rule, renews, since = press.number } = press.ask;
    if (this.#lastStop > since || (rule === 'moves' && this.#insisting(STOP)?.state === 'pending')) {
      press.settle({ refusal: TAKEN_BACK });
      return;
    }
    if (path === STOP) this.#lastStop = press.number;
    const before = this.#insisting(path);
    if (!renews) this.#takeBack(older => excludes(press.ask, older.ask));
    if (before?.state === 'pending') before.settle({ refusal: TAKEN_BACK });
    this.#newest.set(path, press);
    void this.#send(press);
  }

  async #send(press: Press): Promise<void> {
    const { clock, rights, send } = this.#options;
    const ending = new AbortController();
    press.sent += 1;
    press.sentMs = clock.nowMs();
    press.rights = rights();
    this.#requests.set(ending, press);
    this.#changed();
    const outcome = await send(press, ending.signal);
    if (this.#requests.delete(ending)) this.#answer(press, outcome);
  }

  #answer(press: Press, outcome: Outcome<unknown>): void {
    const { path, rule, ends } = press.ask;
    const isDone = 'body' in outcome;
    if (rule === 'insists' && !isDone && isUnanswered(outcome.refusal)) return;
    press.state = isDone ? 'done' : 'refused';
    press.refusal = isDone ? undefined : outcome.refusal;
    // After one success, older requests are needless. They would undo what a person asks next.
    if (rule === 'insists' && isDone)
      this.#takeBack(one => one.ask.path === path && one.number <= press.number);
    if (ends !== undefined && isDone) {
      this.#takeBack(one => one.ask.path === ends);
      this.#newest.delete(ends);
    }
    press.settle(outcome);
    this.#changed();
  }

  #expire(press: Press): void {
    this.#takeBack(one => one.ask.path === press.ask.path);
    press.state = 'expired';
    press.settle({ refusal: TAKEN_BACK });
    this.#changed();
  }

  #isDue({ state, sent, sentMs, rights }: Press, isHeard: boolean): boolean {
    if (state === 'refused') return this.#options.rights() !== rights;
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

  #insisting(path: string): Press | undefined {
    const press = this.#newest.get(path);
    return press?.ask.rule === 'insists' ? press : undefined;
  }

  /** The asks that may be sent again. */
  get #waiting(): Press[] {
    return [...this.#newest.values()].filter(
      ({ ask, state, refusal }) =>
        ask.rule === 'insists' && (state === 'pending' || (state === 'refused' && refusal?.isIdentity)),
    );
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

/** A request of `older` must not arrive after `ask`. One that insists may: another STOP or Off does no harm. */
function excludes(ask: Ask, older: Ask): boolean {
  if (ask.rule === 'insists' && older.rule === 'insists') return false;
  return ask.path === older.path || ask.path === STOP;
}

const FIRST_PAUSE_MS = 300;

/** How long an ask that insists waits for an answer before it is sent once more. */
function pauseMs(sent: number): number {
  return sent === 1 ? FIRST_PAUSE_MS : sent < 20 ? 500 : 2000;
}

/** The daemon answers a STOP within 800 ms. A network on which all of these were too short may be slow. */
export function deadlineMs({ ask, sent }: Press): number | undefined {
  return ask.rule === 'insists' && sent < 20 ? 1500 : undefined;
}
