import { type Asked, bodyMember, isPost, isSameCaller, isTaken, leaseUntilMs } from './asked.js';
import { promise } from './broken-promise.js';
import { ROUNDING_MS } from './lease-model.js';

/** Knows who received the id of a trial or a tuning, and its lease. Only that caller may renew it, and only in time. */
export class IdModel {
  readonly #owners = new Map<unknown, readonly string[]>();
  /** The latest end of each lease, in the time of the walk. */
  readonly #untilMs = new Map<unknown, number>();

  answered(asked: Asked): void {
    const { answer, identities } = asked;
    const { path } = asked;
    if (answer === undefined || !isTaken(answer) || !/(trial|autotune)$/.test(path) || !isPost(asked, path))
      return;
    const id = bodyMember(asked, 'id');
    if (id === undefined) this.#owners.set(answer.body?.id, identities);
    const untilMs = this.#untilMs.get(id) ?? Number.POSITIVE_INFINITY;
    const late = () => `${path} is renewed ${asked.sentMs - untilMs} ms after its lease`;
    promise(asked.sentMs <= untilMs + ROUNDING_MS, 'renewed in time', late);
    this.#holds(answer.body?.id, asked);
    const owner = this.#owners.get(id);
    if (owner === undefined) return;
    const said = () => `${path} of ${owner} is renewed by ${identities}`;
    promise(isSameCaller(owner, identities) !== false, 'renewed by its owner', said);
  }

  /** The caller hung up, but the renewal may still take effect. */
  abandoned(asked: Asked): void {
    const id = bodyMember(asked, 'id');
    if (this.#untilMs.has(id)) this.#holds(id, asked);
  }

  #holds(id: unknown, asked: Asked): void {
    this.#untilMs.set(id, Math.max(leaseUntilMs(asked), this.#untilMs.get(id) ?? 0));
  }
}
