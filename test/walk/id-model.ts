import { type Asked, bodyMember, isPost, isSameCaller } from './asked.js';
import { promise } from './broken-promise.js';
import { isTaken } from './caller.js';

/** Knows who received the id of a trial or a tuning. Only that caller may renew it. */
export class IdModel {
  readonly #owners = new Map<unknown, readonly string[]>();

  answered(asked: Asked): void {
    const { answer, identities } = asked;
    const { path } = asked.request;
    if (answer === undefined || !isTaken(answer) || !/(trial|autotune)$/.test(path) || !isPost(asked, path))
      return;
    const id = bodyMember(asked, 'id');
    if (id === undefined) this.#owners.set(answer.body?.id, identities);
    const owner = this.#owners.get(id);
    if (owner === undefined) return;
    const said = () => `${path} of ${owner} is renewed by ${identities}`;
    promise(isSameCaller(owner, identities) !== false, 'renewed by its owner', said);
  }
}
