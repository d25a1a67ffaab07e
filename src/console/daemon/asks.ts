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
  /** Only asks on for what an older ask began, so that it takes back none. */
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
}

interface Moment {
  readonly nowMs: number;
  /** Calendar time. */
  readonly wallMs: number;
  /** The caller's rights; undefined as long as they are unknown. */
  readonly rights: string | undefined;
}

export type AskEvent =
  | (Moment & { readonly kind: 'press'; readonly ask: Ask })
  | { readonly kind: 'answer'; readonly request: number; readonly outcome: Outcome<unknown> }
  /** Time has passed. `isHeard`: something came from the daemon. */
  | (Moment & { readonly kind: 'time'; readonly isHeard: boolean })
  /** Drops the result of an ask that is no longer pending. */
  | { readonly kind: 'forget'; readonly path: string };

export type Effect =
  | { readonly kind: 'send'; readonly request: number; readonly press: Press }
  | { readonly kind: 'take back'; readonly request: number }
  | { readonly kind: 'settle'; readonly press: Press; readonly outcome: Outcome<unknown> };

/**
 * What this page wants of the robot, and what it has heard of each wish. `step` decides what is sent, sent again and taken
 * back. It has no clock and no network: the caller carries out its effects.
 */
export class Asks {
  /** The newest press of each path. */
  readonly #newest = new Map<string, Press>();
  /** Requests without an answer, oldest first. */
  readonly #requests = new Map<number, Press>();
  #presses = 0;
  #sent = 0;
  #lastStop = 0;

  /** The number of presses so far. */
  get presses(): number {
    return this.#presses;
  }

  /** The newest press of the path if it insists. */
  insisting(path: string): Press | undefined {
    const press = this.#newest.get(path);
    return press?.ask.rule === 'insists' ? press : undefined;
  }

  /** Whether an ask waits for time to pass. */
  get isWaiting(): boolean {
    return [...this.#newest.values()].some(press => this.insisting(press.ask.path) && mayBeSentAgain(press));
  }

  step(event: AskEvent): Effect[] {
    switch (event.kind) {
      case 'press':
        return this.#press(event.ask, event);
      case 'answer':
        return this.#answer(event.request, event.outcome);
      case 'time':
        return [...this.#newest.keys()].flatMap(path => this.#pass(path, event));
      case 'forget':
        if (this.#newest.get(event.path)?.state !== 'pending') this.#newest.delete(event.path);
        return [];
    }
  }

  #press(ask: Ask, { nowMs, wallMs, rights }: Moment): Effect[] {
    const { path, rule } = ask;
    this.#presses += 1;
    const press: Press = {
      ask,
      number: this.#presses,
      pressedMs: wallMs,
      state: 'pending',
      refusal: undefined,
      sent: 0,
      sentMs: nowMs,
      rights,
    };
    const isBeforeStop = this.#lastStop > (ask.since ?? this.#presses);
    if (isBeforeStop || (rule === 'moves' && this.insisting(STOP)?.state === 'pending'))
      return [{ kind: 'settle', press, outcome: { refusal: TAKEN_BACK } }];
    if (path === STOP) this.#lastStop = press.number;
    const before = this.#newest.get(path);
    const effects = ask.renews ? [] : this.#takeBack(older => excludes(ask, older.ask));
    if (before?.ask.rule === 'insists' && before.state === 'pending')
      effects.push({ kind: 'settle', press: before, outcome: { refusal: TAKEN_BACK } });
    this.#newest.set(path, press);
    return [...effects, this.#send(press, { nowMs, wallMs, rights })];
  }

  #answer(request: number, outcome: Outcome<unknown>): Effect[] {
    const press = this.#requests.get(request);
    this.#requests.delete(request);
    if (press === undefined) return [];
    const { path, rule, ends } = press.ask;
    const isDone = 'body' in outcome;
    if (rule === 'insists' && !isDone && isUnanswered(outcome.refusal)) return [];
    press.state = isDone ? 'done' : 'refused';
    press.refusal = isDone ? undefined : outcome.refusal;
    const effects: Effect[] = [];
    // After one success, older requests are needless. They would undo what a person asks next.
    if (rule === 'insists' && isDone)
      effects.push(...this.#takeBack(one => one.ask.path === path && one.number <= press.number));
    if (ends !== undefined && isDone) {
      effects.push(...this.#takeBack(one => one.ask.path === ends));
      this.#newest.delete(ends);
    }
    return [...effects, { kind: 'settle', press, outcome }];
  }

  #pass(path: string, { isHeard, ...moment }: Moment & { readonly isHeard: boolean }): Effect[] {
    const press = this.insisting(path);
    if (press === undefined || !mayBeSentAgain(press)) return [];
    // If the clock was set back, the press seems to be in the future. It counts as old, too.
    const isOld = Math.abs(moment.wallMs - press.pressedMs) > WANTED_MS;
    if (isOld && (press.state === 'refused' || press.ask.expires)) {
      const effects = this.#takeBack(one => one.ask.path === path);
      press.state = 'expired';
      return [...effects, { kind: 'settle', press, outcome: { refusal: TAKEN_BACK } }];
    }
    const pausedMs = moment.nowMs - press.sentMs;
    const isDue =
      press.state === 'refused'
        ? moment.rights !== press.rights
        : pausedMs >= (isHeard ? FIRST_PAUSE_MS : pauseMs(press.sent));
    press.state = isDue ? 'pending' : press.state;
    return isDue ? [this.#send(press, moment)] : [];
  }

  #send(press: Press, { nowMs, rights }: Moment): Effect {
    press.sent += 1;
    press.sentMs = nowMs;
    press.rights = rights;
    this.#sent += 1;
    this.#requests.set(this.#sent, press);
    return { kind: 'send', request: this.#sent, press };
  }

  #takeBack(which: (press: Press) => boolean): Effect[] {
    const found = [...this.#requests].filter(([, press]) => which(press));
    return found.flatMap(([request, press]): Effect[] => {
      this.#requests.delete(request);
      const effect = { kind: 'take back', request } as const;
      return press.ask.rule === 'insists'
        ? [effect]
        : [effect, { kind: 'settle', press, outcome: { refusal: TAKEN_BACK } }];
    });
  }
}

/** A request of `older` must not arrive after `ask`. One that insists may: another STOP or Off does no harm. */
function excludes(ask: Ask, older: Ask): boolean {
  if (ask.rule === 'insists' && older.rule === 'insists') return false;
  return ask.path === older.path || ask.path === STOP;
}

function mayBeSentAgain({ state, refusal }: Press): boolean {
  return state === 'pending' || (state === 'refused' && refusal?.isIdentity === true);
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
