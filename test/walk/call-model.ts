import type { Phase } from '../../src/core/phases.js';
import { isCall } from './acts.js';
import { type Asked, bodyMember, type InFlight } from './asked.js';
import { promise } from './broken-promise.js';

/**
 * Knows which calls of the referee's desk are fresh. A fresh call has a higher revision, or begins a new match at a
 * time when one may begin.
 */
export class CallModel {
  readonly #inFlight: InFlight;
  /** Calls that were in flight at the same time as other calls. */
  readonly #overlapped = new WeakSet<Asked>();
  /** The last accepted call. Undefined if it is unknown. */
  #last: Asked | undefined;

  constructor(inFlight: InFlight) {
    this.#inFlight = inFlight;
  }

  /** A call was sent, and is in flight. */
  sent(): void {
    const calls = [...this.#inFlight].filter(isCall);
    if (calls.length === 1) return;
    for (const one of calls) this.#overlapped.add(one);
    this.#last = undefined;
  }

  /** `phases`: every phase that the match may have had since the call was sent. */
  answered(asked: Asked, phases: readonly Phase[]): void {
    const overlaps = this.#overlapped.has(asked);
    const last = overlaps ? undefined : this.#last;
    const { status, body } = asked.answer ?? {};
    if (last !== undefined) {
      const isFresh = isFreshAfter(last, asked, phases);
      const said = () => `${callText(asked)} answered ${status} ${body?.code ?? ''} after ${callText(last)}`;
      promise(!(isFresh === false && status === 200), 'stale call refused', said);
      promise(!(isFresh === true && body?.code === 'stale-match'), 'fresh call taken', said);
    }
    // A call that was answered 503 may have taken effect.
    if (overlaps || status === 503) this.#last = undefined;
    else if (status === 200) this.#last = asked;
  }

  /** The caller of a call hung up, or the daemon ended. */
  lost(): void {
    this.#last = undefined;
  }
}

/**
 * Returns undefined if the answer depends on a phase that the model does not know. A repeat of the last call is
 * always fresh.
 */
function isFreshAfter(last: Asked, asked: Asked, phases: readonly Phase[]): boolean | undefined {
  if (callText(last) === callText(asked)) return true;
  if (bodyMember(last, 'id') === bodyMember(asked, 'id'))
    return Number(bodyMember(asked, 'revision')) > Number(bodyMember(last, 'revision'));
  // A match that begins in `pre` or `ended` may begin at any time.
  if (['pre', 'ended'].includes(String(bodyMember(asked, 'phase')))) return true;
  const over = phases.map(phase => phase === 'none' || phase === 'ended');
  if (over.every(Boolean)) return true;
  return over.some(Boolean) ? undefined : false;
}

/** Two calls have the same text if the robot treats them as one call. */
export function callText(asked: Asked): string {
  const [id, revision, phase] = ['id', 'revision', 'phase'].map(name => bodyMember(asked, name));
  return JSON.stringify([id, revision, phase, bodyMember(asked, 'remainingS') ?? null]);
}
