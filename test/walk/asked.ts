import { isObject } from '../../src/core/json.js';
import type { MemoryCall } from '../support/memory-call.js';
import type { Received } from '../support/raw-answer.js';
import type { Request } from './request.js';

type Body = Readonly<Record<string, unknown>>;
export type Answer = Received<Body>;
export type Call = Pick<MemoryCall<Body>, 'answer' | 'hangUp'>;

/** Every request is answered within this time, and has no effect afterwards. */
export const ANSWER_MS = 1200;
/** The lease of a tuning that names none. */
const LONGEST_LEASE_S = 5;

/** True if the request was done (200) or begun (202). */
export function isTaken({ status }: Pick<Answer, 'status'>): boolean {
  return status === 200 || status === 202;
}

/** A request that was sent, with the event numbers of its sending and its answer. */
export interface Asked extends Request {
  readonly sent: number;
  readonly sentMs: number;
  /** The earliest time at which the daemon may date the request. It is earlier than `sentMs` if the event loop was late. */
  readonly earliestMs: number;
  /** The identities under which the robot may know the caller. */
  identities: readonly string[];
  /** Undefined until the request is answered. */
  answer?: Answer & { readonly at: number };
}

/** The requests in flight that may have an effect. */
export type InFlight = ReadonlySet<Asked>;

/** True if both are certainly the same caller, false if they certainly are not, undefined if unknown. */
export function isSameCaller(one: readonly string[], other: readonly string[]): boolean | undefined {
  if (!one.some(identity => other.includes(identity))) return false;
  return new Set([...one, ...other]).size === 1 ? true : undefined;
}

export function isPost(asked: Request, path: string): boolean {
  return asked.method === 'POST' && asked.path === path;
}

export function isDelete(asked: Request, path: string): boolean {
  return asked.method === 'DELETE' && asked.path === path;
}

/** The end of the lease of a trial or a tuning. The lease starts when the request arrives. */
export function leaseUntilMs(asked: Asked): number {
  return asked.sentMs + 1000 * Number(bodyMember(asked, 'leaseS') ?? LONGEST_LEASE_S);
}

/** A member of the request's body. */
export function bodyMember(asked: Request, name: string): unknown {
  return isObject(asked.body) ? asked.body[name] : undefined;
}
