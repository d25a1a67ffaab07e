import type { Phase } from '../../src/core/phases.js';
import { type Asked, bodyMember } from './asked.js';
import { promise } from './broken-promise.js';

/** Which calls of the referee's desk are fresh: a higher revision, or a new match that may begin. */
export class CallModel {
  readonly #underWay = new Set<Asked>();
  /** Those that were under way at the same time as others. */
  readonly #overlapped = new WeakSet<Asked>();
  /** The last one that was taken; undefined where it is not known which that was. */
  #last: Asked | undefined;

  sent(asked: Asked): void {
    this.#underWay.add(asked);
    if (this.#underWay.size === 1) return;
    for (const one of this.#underWay) this.#overlapped.add(one);
    this.#last = undefined;
  }

  /** `phases`: those that it may have been since the call was sent. */
  answered(asked: Asked, phases: readonly Phase[]): void {
    const overlaps = this.#overlapped.has(asked);
    this.#underWay.delete(asked);
    const last = overlaps ? undefined : this.#last;
    const { status, body } = asked.answer ?? {};
    if (last !== undefined) {
      const isFresh = isFreshAfter(last, asked, phases);
      const said = () => `${callText(asked)} answered ${status} ${body?.code ?? ''} after ${callText(last)}`;
      promise(!(isFresh === false && status === 200), 'stale call refused', said);
      promise(!(isFresh === true && body?.code === 'stale-match'), 'fresh call taken', said);
    }
    // A call that was answered 503 may have taken effect, too.
    if (overlaps || status === 503) this.#last = undefined;
    else if (status === 200) this.#last = asked;
  }

  lost(asked: Asked): void {
    this.#underWay.delete(asked);
    this.#last = undefined;
  }

  ended(): void {
    this.#underWay.clear();
    this.#last = undefined;
  }
}

/**
 * Undefined if the answer depends on a phase that the model does not know. A repeat of the last call is always fresh.
 */
function isFreshAfter(last: Asked, asked: Asked, phases: readonly Phase[]): boolean | undefined {
  if (callText(last) === callText(asked)) return true;
  if (bodyMember(last, 'id') === bodyMember(asked, 'id'))
    return Number(bodyMember(asked, 'revision')) > Number(bodyMember(last, 'revision'));
  // A match may begin at any time if it begins at rest.
  if (['pre', 'ended'].includes(String(bodyMember(asked, 'phase')))) return true;
  const over = phases.map(phase => phase === 'none' || phase === 'ended');
  if (over.every(Boolean)) return true;
  return over.some(Boolean) ? undefined : false;
}

/** The same for calls that are the same to the robot. */
export function callText(asked: Asked): string {
  const [id, revision, phase] = ['id', 'revision', 'phase'].map(name => bodyMember(asked, name));
  return JSON.stringify([id, revision, phase, bodyMember(asked, 'remainingS') ?? null]);
}
