import { randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import { isObject } from '../core/json.js';
import { sha256 } from '../core/sha256.js';
import { isRole, type Role } from './roles.js';

/** A token's name, role and hash. The secret itself is not stored. */
export interface Token {
  readonly name: string;
  readonly role: Role;
  /** SHA-256 of the token, in hexadecimal. */
  readonly hash: string;
}

/** The characters of a secret. i, l, o and u are left out, because they are easily misread. */
const LETTERS = '0123456789abcdefghjkmnpqrstvwxyz';

/** Makes a new token of 32 letters with 5 random bits each, in groups that are easy to read. */
export function newSecret(): string {
  const letters = Array.from(randomBytes(32), byte => LETTERS[byte % LETTERS.length]).join('');
  return letters.replace(/(.{4})(?=.)/g, '$1-');
}

/**
 * The hash of a secret as a person types it: in upper or lower case, with or without its dashes. Only A to Z become
 * lower case, because toLowerCase of the whole text would also turn the Kelvin sign into a k.
 */
export function hashOf(secret: string): string {
  return sha256(secret.replace(/[\s-]/g, '').replace(/[A-Z]+/g, letters => letters.toLowerCase()));
}

/**
 * Finds the token of a secret by the secret's hash. The time of the comparison may leak something about the hashes, but
 * nothing about a secret.
 */
export function tokenOf(secretHash: string, tokens: readonly Token[]): Token | undefined {
  return tokens.findLast(({ hash }) => hash === secretHash);
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9 ._-]{0,39}$/;
const HASH = /^[0-9a-f]{64}$/;

function isTokenName(text: unknown): text is string {
  return typeof text === 'string' && NAME.test(text);
}

/** Whether a new token may have this name. Older versions stored names with a space at the end too. */
export function isNewTokenName(text: string): boolean {
  return isTokenName(text) && !text.endsWith(' ');
}

/** Whether the log uses this name for others: callers without a token, the board, or the daemon itself. */
export function isReservedName(name: string): boolean {
  return isIP(name) !== 0 || ['root', 'break glass', 'trunnion'].includes(name.toLowerCase());
}

export function isToken(value: unknown): value is Token {
  if (!isObject(value)) return false;
  const { name, role, hash } = value;
  return isTokenName(name) && isRole(role) && typeof hash === 'string' && HASH.test(hash);
}
