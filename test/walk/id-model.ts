import { type Asked, bodyMember, isPost, isSameCaller, isTaken, leaseUntilMs } from './asked.js';
import { promise } from './broken-promise.js';
import { ROUNDING_MS } from './lease-model.js';

interface Known {
  readonly owner: readonly string[];
  /** The latest end of the lease, in the time of the walk. */
  untilMs: number;
}

/** Knows who received the id of a trial or a tuning, and its lease. Only that caller may renew it, and only in time. */
export class IdModel {
  readonly #known = new Map<unknown, Known>();

  answered(asked: Asked): void {
    const { answer, identities, path } = asked;
    if (answer === undefined || !isTaken(answer) || !/(trial|autotune)$/.test(path) || !isPost(asked, path))
      return;
    const id = bodyMember(asked, 'id');
    if (id === undefined) {
      this.#known.set(answer.body?.id, { owner: identities, untilMs: leaseUntilMs(asked) });
      return;
    }
    const known = this.#known.get(id);
    if (known === undefined) return;
    const { owner, untilMs } = known;
    const late = () => `${path} is renewed ${asked.sentMs - untilMs} ms after its lease`;
    promise(asked.sentMs <= untilMs + ROUNDING_MS, 'renewed in time', late);
    const said = () => `${path} of ${owner} is renewed by ${identities}`;
    promise(isSameCaller(owner, identities) !== false, 'renewed by its owner', said);
    this.mayRenew(asked);
  }

  /** A renewal took effect, or may still take effect because its caller hung up. */
  mayRenew(asked: Asked): void {
    const known = this.#known.get(bodyMember(asked, 'id'));
    if (known !== undefined) known.untilMs = Math.max(known.untilMs, leaseUntilMs(asked));
  }
}
