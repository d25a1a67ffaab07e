import { isBeat } from './acts.js';
import { type Asked, bodyMember, type InFlight, isSameCaller } from './asked.js';
import { promise } from './broken-promise.js';

interface Beat {
  /** The identities under which the robot may know this desk. */
  readonly by: readonly string[];
  readonly holder: unknown;
  readonly takesOver: boolean;
  readonly ttlMs: number;
}

interface Accepted extends Beat {
  /** The event number of the answer. */
  readonly at: number;
  /** The beat was accepted between these two times. */
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * The largest rounding error of a time difference. This close to the end of a lease or of the silence limit, either
 * answer is right.
 */
export const ROUNDING_MS = 0.001;

/** Knows which referee's desk holds the lease, and when it last beat. */
export class LeaseModel {
  readonly #silenceMs: number;
  readonly #inFlight: InFlight;
  /** The last accepted beat. Undefined if there is none, or if it is unknown which caller holds the lease. */
  #last: Accepted | undefined;
  /** The latest times at which a beat may have been accepted (`maybe`), and at which a beat certainly was (`surely`). */
  #maybeMs = Number.NEGATIVE_INFINITY;
  #surelyMs = Number.NEGATIVE_INFINITY;
  /** When the newest accepted beat was sent. */
  #sentMs = Number.NEGATIVE_INFINITY;

  constructor(silenceMs: number, inFlight: InFlight) {
    this.#silenceMs = silenceMs;
    this.#inFlight = inFlight;
  }

  /** True if no beat is in flight, and the silence limit had certainly passed at `sinceMs`. */
  surelySilentAt(sinceMs: number): boolean {
    return !this.#mayBeat && sinceMs >= this.#maybeMs + this.#silenceMs + ROUNDING_MS;
  }

  maybeSilentAt(nowMs: number): boolean {
    return nowMs >= this.#surelyMs + this.#silenceMs - ROUNDING_MS;
  }

  /** True if the desk may have been silent at some time from `sinceMs` to `nowMs`. */
  maybeSilentSince(sinceMs: number, nowMs: number): boolean {
    return this.#sentMs >= sinceMs || this.maybeSilentAt(nowMs);
  }

  answered(asked: Asked, nowMs: number): void {
    if (asked.answer === undefined) return;
    const { status, at } = asked.answer;
    const beat = beatOf(asked);
    const holds = ({ by, holder }: Beat) => (holder === beat.holder ? isSameCaller(by, beat.by) : false);
    this.#judge(asked, beat.takesOver ? () => true : holds, nowMs);
    if (status !== 200) return;
    this.#maybeMs = nowMs;
    this.#surelyMs = Math.max(this.#surelyMs, asked.earliestMs);
    this.#sentMs = Math.max(this.#sentMs, asked.sentMs);
    const overlaps = this.#mayBeat || (this.#last !== undefined && this.#last.at > asked.sent);
    const mayBeFreed = new Set(beat.by).size > 1;
    this.#last = overlaps || mayBeFreed ? undefined : { ...beat, at, fromMs: asked.earliestMs, toMs: nowMs };
  }

  abandoned(nowMs: number): void {
    this.#last = undefined;
    this.#maybeMs = nowMs;
  }

  /** A new token list frees the lease of a caller who is not in it. */
  tokensChanged(): void {
    this.#last = undefined;
  }

  /** After a start the desk must beat again. */
  ended(): void {
    this.#last = undefined;
    this.#maybeMs = this.#surelyMs = this.#sentMs = Number.NEGATIVE_INFINITY;
  }

  /** If a desk has the lease, only this desk may set a phase in which the robot moves. */
  judgePhase(asked: Asked, nowMs: number): void {
    const isRest = ['pause', 'ended'].includes(String(bodyMember(asked, 'phase')));
    this.#judge(asked, ({ by }) => isRest || isSameCaller(by, asked.identities), nowMs);
  }

  get #mayBeat(): boolean {
    return [...this.#inFlight].some(isBeat);
  }

  /** `isOwn`: whether the last beat came from the same caller; undefined if unknown. */
  #judge(asked: Asked, isOwn: (last: Beat) => boolean | undefined, nowMs: number): void {
    const { status, body } = asked.answer ?? {};
    const last = this.#last;
    const isKnown = last !== undefined && last.at <= asked.sent && !this.#mayBeat;
    if (!isKnown) return;
    const { path } = asked;
    const said = () =>
      `${path} of ${asked.identities} answered ${status} ${body?.code ?? ''} after ${JSON.stringify(last)}`;
    const own = isOwn(last);
    const isOver = asked.sentMs >= last.toMs + last.ttlMs + ROUNDING_MS;
    const isLive = nowMs < last.fromMs + last.ttlMs - ROUNDING_MS;
    promise(!(own === false && isLive && status === 200), 'lease held', said);
    promise(!((own === true || isOver) && body?.code === 'lease-held'), 'lease free', said);
  }
}

function beatOf(asked: Asked): Beat {
  return {
    by: asked.identities,
    holder: bodyMember(asked, 'holder'),
    takesOver: bodyMember(asked, 'takeover') === true,
    ttlMs: Number(bodyMember(asked, 'ttlMs')),
  };
}
