import type { Complaint } from '../../schemas/status.js';

export interface Refusal extends Complaint {
  /** Each fault of a body, by JSON pointer. */
  readonly errors: readonly { readonly pointer: string; readonly detail: string }[];
  /** Refused for who is here: without a token, or with one that is unknown or lacks the right. */
  readonly isIdentity?: boolean;
}

export type Outcome<T> = { readonly body: T } | { readonly refusal: Refusal };

const STUCK_MS = 400;
const DEADLINE_MS = 4000;
/** The daemon answers a stop within 800 ms. */
const STOP_DEADLINE_MS = 1500;
const SLOW_MS = 300;
const AGAIN_MS = 500;
const STOP_TRIES = 20;

const UNREACHABLE: Refusal = {
  code: 'unreachable',
  detail: 'The daemon does not answer. Check its power and the network.',
  errors: [],
};

/** Stands for the answer to a request that was taken back. Nobody has to hear of it. */
export const OVERTAKEN: Refusal = { code: 'overtaken', detail: '', errors: [] };

/** No answer came, so the daemon may have done it. */
export function isUnheard(refusal: Refusal): boolean {
  return refusal === UNREACHABLE || refusal === OVERTAKEN;
}

/** Says who is here, and takes a token. It refuses only a token that is wrong, or that cannot be looked up. */
export const SESSION = '/api/session';

export type Request = ReturnType<typeof createRequest>;

interface Limits {
  readonly deadlineMs?: number;
  /** Takes the request back: it does not reach the daemon any more, or as that of a caller who hung up. */
  readonly signal?: AbortSignal;
}

export interface RequestHandlers {
  /** A request waits suspiciously long, the browser may have no connection left for it. */
  readonly onStuck: () => void;
  /** Whoever is here is not who this page took them for, or may not do what it offered. */
  readonly onIdentityRefused: () => void;
}

export function createRequest({ onStuck, onIdentityRefused }: RequestHandlers) {
  async function call<T>(
    method: string,
    path: string,
    body?: unknown,
    { deadlineMs = DEADLINE_MS, signal }: Limits = {},
  ): Promise<Outcome<T>> {
    const ending = new AbortController();
    const end = () => ending.abort();
    const stuck = setTimeout(onStuck, STUCK_MS);
    const deadline = setTimeout(end, deadlineMs);
    signal?.addEventListener('abort', end, { signal: ending.signal });
    if (signal?.aborted) end();
    try {
      const response = await fetch(path, {
        method,
        cache: 'no-store',
        priority: method === 'POST' ? 'high' : 'auto',
        signal: ending.signal,
        ...(method === 'POST' && {
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body ?? {}),
        }),
      });
      const isIdentity = response.status === 401 || response.status === 403;
      if (isIdentity && path !== SESSION) onIdentityRefused();
      const answer = await response.json();
      if (response.ok) return { body: answer };
      const { errors = [], code } = answer;
      return { refusal: { ...answer, errors, isIdentity: isIdentity && code !== 'cross-site' } };
    } catch {
      return { refusal: signal?.aborted ? OVERTAKEN : UNREACHABLE };
    } finally {
      clearTimeout(stuck);
      clearTimeout(deadline);
      end();
    }
  }

  return {
    get: <T>(path: string) => call<T>('GET', path),
    post: <T>(path: string, body?: unknown, signal?: AbortSignal) => call<T>('POST', path, body, { signal }),
    remove: <T>(path: string) => call<T>('DELETE', path),
    /**
     * Makes the request that stops the robot or darkens its laser. It is sent again and again, each time beside the ones
     * before, until an answer comes or `signal` takes it back; `onAgain` hears of each repetition before it. Once it is done,
     * the older requests are taken back: they would undo what somebody asks afterwards.
     */
    insister<T>(path: string, body: unknown) {
      /** Unanswered, the oldest first. */
      const asks: AbortController[] = [];
      return async (onAgain: () => void, signal?: AbortSignal): Promise<Outcome<T>> => {
        const ask = new AbortController();
        signal?.addEventListener('abort', () => ask.abort());
        const limits = { deadlineMs: STOP_DEADLINE_MS, signal: ask.signal };
        asks.push(ask);
        let answer: (outcome: Outcome<T>) => void = () => undefined;
        const answered = new Promise<Outcome<T>>(resolve => {
          answer = resolve;
        });
        for (let attempt = 0; attempt < STOP_TRIES; attempt += 1) {
          if (attempt > 0) onAgain();
          void call<T>('POST', path, body, limits).then(outcome => {
            if ('refusal' in outcome && outcome.refusal === UNREACHABLE) return;
            answer(outcome);
            // One that was refused says nothing of the others, which may succeed; nor does an answer of later asks.
            if ('refusal' in outcome) return;
            for (const one of asks.splice(0, asks.indexOf(ask) + 1)) one.abort();
          });
          const patienceMs = attempt === 0 ? SLOW_MS : AGAIN_MS;
          const pause = new Promise<undefined>(resolve => setTimeout(resolve, patienceMs));
          const outcome = await Promise.race([answered, pause]);
          if (outcome !== undefined) return outcome;
        }
        return { refusal: UNREACHABLE };
      };
    },
  };
}
