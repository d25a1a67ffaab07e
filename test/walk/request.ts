import type { Role } from '../../src/access/roles.js';

export interface Request {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  /** The role whose token the request carries. */
  readonly as?: Role;
  /** True if the caller has another address than usual. */
  readonly elsewhere?: true;
}

export function post(path: string, body?: unknown): Request {
  return { method: 'POST', path, body };
}

/** The roles that have a token; `damaged` is a file of tokens that cannot be read. */
export type TokenList = readonly Role[] | 'damaged';
