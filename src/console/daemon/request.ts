import { signal } from '@preact/signals';
import type { Complaint } from '../../schemas/status.js';
import type { Surroundings } from './surroundings.js';

export interface Refusal extends Complaint {
  /** The faults of a body, by JSON pointer. */
  readonly errors: readonly { readonly pointer: string; readonly detail: string }[];
  /** The caller has no token, an unknown token, or one without the right. */
  readonly isIdentity?: boolean;
  /** With code `changed-meanwhile`: the revision in force. */
  readonly revision?: number;
}

export type Outcome<T> = { readonly body: T } | { readonly refusal: Refusal };

const STUCK_MS = 400;
export const DEADLINE_MS = 4000;

/** No answer came. The daemon may or may not have acted. */
export const UNREACHABLE: Refusal = {
  code: 'unreachable',
  detail: 'The daemon does not answer. Check its power and the network.',
  errors: [],
};

/** The result of a request that was cancelled. The page does not show it. */
export const TAKEN_BACK: Refusal = { code: 'taken-back', detail: '', errors: [] };

/** True if it is unknown whether the daemon acted on the request. */
export function isUnanswered(outcome: Outcome<unknown>): boolean {
  return 'refusal' in outcome && (outcome.refusal === UNREACHABLE || outcome.refusal === TAKEN_BACK);
}

/** What became of one press of a person. */
export class Fate {
  /**
   * `dropped`: another press took its place. `expired`: unanswered, or refused for a missing right, for longer than a
   * person may want it.
   */
  readonly state = signal<'pending' | 'done' | 'refused' | 'dropped' | 'expired'>('pending');
  /** Why it was refused. */
  refusal: Refusal | undefined;

  settle(outcome: Outcome<unknown>): void {
    this.refusal = 'refusal' in outcome ? outcome.refusal : undefined;
    this.state.value =
      this.refusal === undefined ? 'done' : this.refusal === TAKEN_BACK ? 'dropped' : 'refused';
  }
}

/** The path that says who is logged in, and that accepts a token. */
export const SESSION = '/api/session';

interface SendOptions {
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal;
}

export type Send = <T>(
  method: string,
  path: string,
  body?: unknown,
  options?: SendOptions,
) => Promise<Outcome<T>>;

export interface SendHandlers {
  /** Called when a request has waited for long: the browser may have no connection left for it. */
  readonly onStuck: () => void;
  /**
   * Called if an answer shows that the caller is another than the page assumed, or lacks a right that the
   * page assumed.
   */
  readonly onIdentityRefused: () => void;
}

/** Makes the function that sends one request. It always resolves with an answer, and never rejects. */
export function createSend(
  { clock, fetch }: Pick<Surroundings, 'clock' | 'fetch'>,
  { onStuck, onIdentityRefused }: SendHandlers,
): Send {
  return async (method, path, body, { deadlineMs = DEADLINE_MS, signal } = {}) => {
    const ending = new AbortController();
    const end = () => ending.abort();
    const timers = [clock.after(STUCK_MS, onStuck), clock.after(deadlineMs, end)];
    signal?.addEventListener('abort', end, { signal: ending.signal });
    if (signal?.aborted) end();
    try {
      const asked = {
        method,
        body: method === 'POST' ? JSON.stringify(body ?? {}) : undefined,
        signal: ending.signal,
      };
      const response = await fetch(path, asked);
      const isIdentity = response.status === 401 || response.status === 403;
      if (isIdentity && path !== SESSION) onIdentityRefused();
      if (response.status < 400) return { body: await response.json() };
      const answer = await response.json<Complaint & Partial<Refusal>>();
      const mayHelp = isIdentity && answer.code !== 'cross-site';
      return { refusal: { ...answer, errors: answer.errors ?? [], isIdentity: mayHelp } };
    } catch {
      return { refusal: signal?.aborted ? TAKEN_BACK : UNREACHABLE };
    } finally {
      for (const timer of timers) timer.cancel();
      end();
    }
  };
}
