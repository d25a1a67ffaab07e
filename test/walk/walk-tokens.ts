import type { Role } from '../../src/access/roles.js';
import { hashOf } from '../../src/access/token.js';
import { encodeTokens } from '../../src/access/token-file.js';

/** The roles that have a token; `damaged` is a file of tokens that cannot be read. */
export type TokenList = readonly Role[] | 'damaged';

/** The token of a role. Each role has one token, which has the role's name. */
export function secretOf(role: Role): string {
  return `${role}-of-the-walk`;
}

/** Writes the token list, as `trunnion token` does. */
export function tokenFileOf(list: TokenList): Buffer {
  if (list === 'damaged') return Buffer.from('{"tokens":[');
  return encodeTokens(list.map(role => ({ name: role, role, hash: hashOf(secretOf(role)) })));
}
