import { type Asked, bodyMember } from './asked.js';
import { promise } from './broken-promise.js';

interface Beat {
  readonly holder: unknown;
  readonly takesOver: boolean;
  readonly ttlMs: number;
}

interface Accepted extends Beat {
  /** Its place in the order of all that happened, when it was answered. */
  readonly at: number;
  /** It was accepted between. */
  readonly fromMs: number;
  readonly toMs: number;
}

/** What a difference of two times may be off by rounding: at the very end of a lease either answer is right. */
const ROUNDING_MS = 0.001;

/** Which referee's desk is heard, and whether any is. */
export class LeaseModel {
  readonly #silenceMs: number;
  readonly #beats = new Set<Asked>();
  /** The last one; undefined where it is not known who came last, or that anybody came. */
  #last: Accepted | undefined;
  /** A beat may have been accepted as late as this; and one was at least as late as that. */
  #maybeMs = Number.NEGATIVE_INFINITY;
  #surelyMs = Number.NEGATIVE_INFINITY;

  constructor(silenceMs: number) {
    this.#silenceMs = silenceMs;
  }

  /** Nobody has been heard since `sinceMs`, for too long even then. */
  surelySilentAt(sinceMs: number): boolean {
    return this.#beats.size === 0 && sinceMs >= this.#maybeMs + this.#silenceMs;
  }

  maybeSilentAt(nowMs: number): boolean {
    return nowMs >= this.#surelyMs + this.#silenceMs;
  }

  /** The same at some time since then. */
  maybeSilentSince(sinceMs: number, nowMs: number): boolean {
    return this.#surelyMs >= sinceMs || this.maybeSilentAt(nowMs);
  }

  sent(asked: Asked): void {
    this.#beats.add(asked);
  }

  answered(asked: Asked, nowMs: number): void {
    if (asked.answer === undefined) return;
    const { status, body, at } = asked.answer;
    this.#beats.delete(asked);
    const beat = beatOf(asked);
    const isHeld = this.#judge(asked, beat, nowMs);
    const said = () => `a beat of ${beat.holder} answered ${status}, after ${JSON.stringify(this.#last)}`;
    promise(!(isHeld === true && status === 200), 'lease held', said);
    promise(!(isHeld === false && body?.code === 'lease-held'), 'lease free', said);
    if (status !== 200) return;
    this.#maybeMs = nowMs;
    this.#surelyMs = Math.max(this.#surelyMs, asked.sentMs);
    const overlaps = this.#beats.size > 0 || (this.#last !== undefined && this.#last.at > asked.sent);
    this.#last = overlaps ? undefined : { ...beat, at, fromMs: asked.sentMs, toMs: nowMs };
  }

  abandoned(asked: Asked, nowMs: number): void {
    this.#beats.delete(asked);
    this.#last = undefined;
    this.#maybeMs = nowMs;
  }

  /** A desk has to come again after a start. */
  ended(): void {
    this.#beats.clear();
    this.#last = undefined;
    this.#maybeMs = this.#surelyMs = Number.NEGATIVE_INFINITY;
  }

  /** Whether somebody else surely has it, or surely not; undefined where that is not known. */
  #judge(asked: Asked, { holder, takesOver }: Beat, nowMs: number): boolean | undefined {
    if (takesOver) return false;
    const last = this.#last;
    if (last === undefined || last.at > asked.sent || this.#beats.size > 0) return undefined;
    const isOver = asked.sentMs >= last.toMs + last.ttlMs + ROUNDING_MS;
    if (last.holder === holder || isOver) return false;
    return nowMs < last.fromMs + last.ttlMs - ROUNDING_MS ? true : undefined;
  }
}

function beatOf(asked: Asked): Beat {
  return {
    holder: bodyMember(asked, 'holder'),
    takesOver: bodyMember(asked, 'takeover') === true,
    ttlMs: Number(bodyMember(asked, 'ttlMs')),
  };
}
