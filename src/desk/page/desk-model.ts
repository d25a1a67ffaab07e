import { computed, signal } from '@preact/signals';
import type { Session } from '../../console/daemon/daemon.js';
import {
  createSend,
  isUnanswered,
  type Outcome,
  type Refusal,
  SESSION,
  type Send,
  UNREACHABLE,
} from '../../console/daemon/request.js';
import type { Surroundings } from '../../console/daemon/surroundings.js';
import { endedWithin, every, pause, type Timer } from '../../core/clock.js';
import { RESTRICTING } from '../restricting.js';
import type { DeskView } from '../show.js';

const POLL_MS = 50;
/** An unanswered poll, or an unanswered press that restricts, is sent again after this time. */
const AGAIN_MS = 1000;
/** Data that is older counts as no contact. */
const FRESH_MS = 1500;
/** The desk asks no robot later than this for what a press permits, and refuses a press that leaves it too little time. */
const IN_TIME_S = 1;
const SAID_MS = 10_000;

type PressBody = Readonly<Record<string, string | number>>;

type DeskSurroundings = Pick<Surroundings, 'clock' | 'fetch'> & {
  /** Whether the page only shows, and cannot press: the screen for the audience. */
  readonly isScreen: () => boolean;
  /** A new id for a press. */
  readonly newId: () => string;
};

const UNANSWERED = 'THE DESK DOES NOT ANSWER. The press is sent again. Use the buttons on the robots.';

function refusalText(refusal: Refusal): string {
  return refusal === UNREACHABLE
    ? 'The desk did not answer in time. Look at the tiles, then press again.'
    : refusal.detail;
}

/**
 * The referee's page of a field: what the desk showed last, and the presses that it has not answered. Only presses that
 * restrict repeat by themselves.
 */
export class DeskModel {
  readonly session = signal<Session | undefined>(undefined);
  readonly view = signal<DeskView | undefined>(undefined);
  /** The page's clock, in milliseconds. It moves a few times a second. */
  readonly nowMs = signal(0);
  /** Why the last press was refused, or what it waits for. */
  readonly said = signal('');
  /** The newest press under way about each subject. It ends the repetition of an older one. */
  readonly pending = signal<ReadonlyMap<string, string>>(new Map());
  readonly surroundings: DeskSurroundings;
  readonly #send: Send;
  /** When the request whose answer is `view` was sent, and when that answer came. */
  readonly #viewMs = signal({ sent: Number.NEGATIVE_INFINITY, came: Number.NEGATIVE_INFINITY });
  /** When the page was last hidden or shown. Only an answer to a later request counts as fresh. */
  readonly #doubtedMs = signal(Number.NEGATIVE_INFINITY);
  /** The number of session requests so far, and the number of the newest one that was answered. */
  #asked = 0;
  #answered = 0;
  #saidTimer: Timer | undefined;
  #polls = 0;
  #polledMs = Number.NEGATIVE_INFINITY;

  constructor(surroundings: DeskSurroundings) {
    this.surroundings = surroundings;
    this.nowMs.value = surroundings.clock.nowMs();
    const handlers = { onStuck: () => undefined, onIdentityRefused: () => void this.refreshSession() };
    this.#send = createSend(surroundings, handlers);
  }

  /** The age of the view, counted from its request, in seconds. */
  readonly ageS = computed(() => (this.nowMs.value - this.#viewMs.value.sent) / 1000);

  readonly isFresh = computed(
    () => this.ageS.value * 1000 <= FRESH_MS && this.#viewMs.value.sent > this.#doubtedMs.value,
  );

  /** The lowest time that the desk's clock may show now, in seconds. */
  get deskT(): number {
    const { clock } = this.surroundings;
    return (this.view.peek()?.t ?? 0) + (clock.nowMs() - this.#viewMs.peek().came) / 1000;
  }

  /** Whether the caller may press. */
  get isReferee(): boolean {
    return this.session.value?.rights.includes('rule') ?? false;
  }

  /** Whether LOCK ALL is offered, also before the desk has said who this is. */
  get mayLock(): boolean {
    const session = this.session.value;
    // While the desk cannot read its tokens, everybody may lock.
    return session === undefined || session.access === 'unavailable' || this.isReferee;
  }

  /** Whether the caller may see nothing. */
  get isShut(): boolean {
    return this.session.value !== undefined && !this.session.value.rights.includes('read');
  }

  /** Begins to ask. Returns a function that ends this. */
  start(): () => void {
    void this.refreshSession();
    this.#poll();
    return every(this.surroundings.clock, POLL_MS, () => this.#poll());
  }

  /** Call this when the page is hidden or shown. It may have slept in between, and its clock may have stood still. */
  doubt(): void {
    this.#doubtedMs.value = this.surroundings.clock.nowMs();
  }

  async refreshSession(): Promise<void> {
    await this.#askSession('GET');
  }

  async enter(token: string): Promise<void> {
    const outcome = await this.#askSession('POST', { token });
    if ('refusal' in outcome) this.#say(outcome.refusal.detail);
  }

  async leave(): Promise<void> {
    await this.#askSession('DELETE');
  }

  isPending(subject: string): boolean {
    return this.pending.value.has(subject);
  }

  lockAll(): Promise<void> {
    return this.press('lock', { reason: 'LOCK ALL' }, 'lock');
  }

  /**
   * Sends one press. Presses about the same `subject` replace one another. A press that restricts is sent again each second until
   * one of these attempts is answered, also if that answer is late. Any other press is refused by the desk if it arrives late.
   */
  async press(name: string, body: PressBody = {}, subject = name.split('/')[0] ?? name): Promise<void> {
    const { clock, newId } = this.surroundings;
    const press = newId();
    const repeats = RESTRICTING.includes(name);
    const record = name.startsWith('match/') ? this.view.peek()?.match?.record : undefined;
    const sent = { ...body, press, record, ...(!repeats && { notAfterT: this.deskT + IN_TIME_S }) };
    const isPending = () => this.pending.peek().get(subject) === press;
    this.said.value = '';
    this.#setPending(subject, press);
    const attempt = async () => {
      const outcome = await this.#ask(() => this.#send<DeskView>('POST', `/api/${name}`, sent));
      // Another attempt was answered, or a newer press about this subject has replaced this one.
      if (!isPending() || (repeats && isUnanswered(outcome))) return;
      if (this.said.peek() === UNANSWERED) this.said.value = '';
      if ('refusal' in outcome) this.#say(refusalText(outcome.refusal));
      this.#setPending(subject, undefined);
    };
    if (!repeats) return attempt();
    for (;;) {
      await endedWithin(clock, AGAIN_MS, attempt());
      if (!isPending()) return;
      this.#say(UNANSWERED);
      await pause(clock, POLL_MS);
    }
  }

  #poll(): void {
    const nowMs = this.surroundings.clock.nowMs();
    this.nowMs.value = nowMs;
    if (this.#polls > 0 && nowMs - this.#polledMs < AGAIN_MS) return;
    this.#polledMs = nowMs;
    this.#polls += 1;
    const path = `/api/status?page=${!this.surroundings.isScreen()}`;
    void this.#ask(() => this.#send('GET', path)).then(() => {
      this.#polls -= 1;
    });
  }

  /** Sends a request whose answer is the view, and takes the view unless a newer one is there. */
  async #ask(send: () => Promise<Outcome<DeskView>>): Promise<Outcome<DeskView>> {
    const { clock } = this.surroundings;
    const sent = clock.nowMs();
    const outcome = await send();
    if ('body' in outcome && sent >= this.#viewMs.peek().sent) {
      this.nowMs.value = clock.nowMs();
      this.#viewMs.value = { sent, came: clock.nowMs() };
      this.view.value = outcome.body;
    }
    return outcome;
  }

  #say(text: string): void {
    this.#saidTimer?.cancel();
    this.said.value = text;
    this.#saidTimer = this.surroundings.clock.after(SAID_MS, () => {
      this.said.value = '';
    });
  }

  #setPending(subject: string, press: string | undefined): void {
    const presses = new Map(this.pending.peek());
    if (press === undefined) presses.delete(subject);
    else presses.set(subject, press);
    this.pending.value = presses;
  }

  /** The answer to a login or a logout counts as newer than the answer to any earlier session request. */
  async #askSession(method: string, body?: object): Promise<Outcome<Session>> {
    const isQuestion = method === 'GET';
    let turn = ++this.#asked;
    const outcome = await this.#send<Session>(method, SESSION, body);
    if (!isQuestion) turn = ++this.#asked;
    if ('body' in outcome && turn >= this.#answered) {
      this.#answered = turn;
      this.session.value = outcome.body;
    }
    // An unanswered login may have given the browser its cookie.
    if (!isQuestion && 'refusal' in outcome) void this.refreshSession();
    return outcome;
  }
}
