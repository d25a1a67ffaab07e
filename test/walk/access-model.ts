import { READ_AGAIN_MS } from '../../src/access/access.js';
import { type Right, ROLES, type Role } from '../../src/access/roles.js';
import { isOff } from './acts.js';
import type { Answer, Asked } from './asked.js';
import { promise } from './broken-promise.js';
import type { Request, TokenList } from './request.js';

const DAMAGED = 'access-unavailable';
/**
 * The daemon reads the token list at least this often. If the disk was slow until now, each of two reads may take 0.7 s
 * more.
 */
const LOOKED_MS = 2 * READ_AGAIN_MS;
const LOOKED_SLOWLY_MS = LOOKED_MS + 1400;

/** The right that the request needs. Undefined for stop and laser off, which need none. */
export function needOf(request: Request): Right | undefined {
  const { method, path } = request;
  if (method === 'GET') return 'read';
  if (path.startsWith('/api/match')) return 'rule';
  if (path === '/api/stop' || isOff(request)) return undefined;
  if (path.endsWith('/autotune')) return method === 'DELETE' ? 'tune' : 'drive';
  return path.includes('/pidconfig') ? 'tune' : 'drive';
}

/** True if the caller lacked a token or a right, or if the token list was unreadable. */
export function isAccessRefusal({ status, body }: Answer): boolean {
  return status === 401 || status === 403 || body?.code === DAMAGED;
}

/** Knows which callers may do what. */
export class AccessModel {
  /** The token lists that may be in force, oldest first. */
  #lists: TokenList[] = [[]];
  /** By this time the daemon has read the newest list. */
  #readByMs = Number.NEGATIVE_INFINITY;
  /** True if the list cannot be read, or could not be read lately. */
  #isUnreadable = false;
  /** True if the running daemon has read a list. That list stays in force while no list can be read. */
  #hasRead = false;
  /** True if the daemon may have started without a readable list. */
  #foundNone = false;

  /** The newest token list. */
  get list(): TokenList {
    return this.#lists.at(-1) ?? [];
  }

  get mayBeOpen(): boolean {
    return this.#lists.some(list => list.length === 0);
  }

  /** A role whose token is valid. */
  get someone(): Role | undefined {
    return this.list === 'damaged' ? undefined : this.list[0];
  }

  /** The list takes effect when the daemon next reads it. */
  written(list: TokenList, nowMs: number): void {
    this.#lists.push(list);
    this.#readByMs = Math.max(this.#readByMs, nowMs + LOOKED_MS);
  }

  /** If the list cannot be read when the daemon starts, it counts as damaged. */
  disk(isUnreadable: boolean, nowMs: number): void {
    this.#readByMs = nowMs + LOOKED_SLOWLY_MS;
    this.#isUnreadable ||= isUnreadable;
    this.#foundNone ||= isUnreadable && !this.#hasRead;
  }

  /** The daemon starts with the newest list that can be read. */
  started(): void {
    this.#hasRead = false;
    this.#foundNone = this.#isUnreadable;
    if (!this.#isUnreadable) this.#lists = [this.list];
  }

  /** If the newest list was readable for long enough, the daemon has read it. */
  adopt(nowMs: number): void {
    if (nowMs <= this.#readByMs) return;
    this.#lists = [this.list];
    this.#hasRead = true;
    this.#isUnreadable = this.#foundNone = false;
  }

  surelyRefuses(request: Request): boolean {
    return this.#possible.every(list => !allows(list, request));
  }

  /** The identities under which the robot may know this caller: its token, its address without tokens, or a stranger. */
  identitiesOf({ as, elsewhere }: Request): readonly string[] {
    const address = elsewhere ? 'elsewhere' : 'here';
    return this.#possible.map(list => {
      if (list.length === 0) return address;
      return as !== undefined && list.includes(as) ? as : 'stranger';
    });
  }

  judge(asked: Asked, answer: Answer): void {
    const said = () =>
      `${asked.path} as ${asked.as ?? 'nobody'} answered ${answer.status} ${answer.body?.code ?? ''}`;
    const refused = isAccessRefusal(answer);
    promise(!(this.surelyRefuses(asked) && answer.status === 200), 'refused without a right', said);
    promise(!refused || this.#possible.some(list => !allows(list, asked)), 'let in with a right', said);
  }

  judgeSettled(shown: unknown): void {
    const { list } = this;
    const expected = list === 'damaged' ? 'unavailable' : list.length > 0 ? 'closed' : 'open';
    promise(shown === expected, 'access', () => `access is ${shown}, not ${expected}`);
  }

  get #possible(): readonly TokenList[] {
    return this.#foundNone ? [...this.#lists, 'damaged'] : this.#lists;
  }
}

function allows(list: TokenList, request: Request): boolean {
  const need = needOf(request);
  if (need === undefined) return true;
  // Reading moves nothing, so it stays allowed.
  if (list === 'damaged') return need === 'read';
  if (list.length === 0) return true;
  const { as } = request;
  const rights: readonly Right[] = as !== undefined && list.includes(as) ? ROLES[as] : [];
  return rights.includes(need);
}
