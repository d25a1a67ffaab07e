import type { Complaint } from '../../core/status.js';

export interface Refusal extends Complaint {
  /** Each fault of a body, by JSON pointer. */
  readonly errors: readonly { readonly pointer: string; readonly detail: string }[];
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

export type Request = ReturnType<typeof createRequest>;

/** `onStuck`: a request waits suspiciously long, the browser may have no connection left for it. */
export function createRequest(onStuck: () => void) {
  async function call<T>(
    method: string,
    path: string,
    body?: unknown,
    deadlineMs = DEADLINE_MS,
  ): Promise<Outcome<T>> {
    const stuck = setTimeout(onStuck, STUCK_MS);
    try {
      const response = await fetch(path, {
        method,
        cache: 'no-store',
        priority: method === 'POST' ? 'high' : 'auto',
        signal: AbortSignal.timeout(deadlineMs),
        ...(method === 'POST' && {
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body ?? {}),
        }),
      });
      const answer = await response.json();
      return response.ok ? { body: answer } : { refusal: { ...answer, errors: answer.errors ?? [] } };
    } catch {
      return { refusal: UNREACHABLE };
    } finally {
      clearTimeout(stuck);
    }
  }

  return {
    get: <T>(path: string) => call<T>('GET', path),
    post: <T>(path: string, body?: unknown) => call<T>('POST', path, body),
    remove: <T>(path: string) => call<T>('DELETE', path),
    /** For what makes the robot safe: asked again and again, beside what was asked before, until an answer comes. */
    async insist<T>(path: string, body: unknown, onSlow: () => void): Promise<Outcome<T>> {
      let answer: (outcome: Outcome<T>) => void = () => undefined;
      const answered = new Promise<Outcome<T>>(resolve => {
        answer = resolve;
      });
      for (let attempt = 0; attempt < STOP_TRIES; attempt += 1) {
        void call<T>('POST', path, body, STOP_DEADLINE_MS).then(outcome => {
          if ('body' in outcome || outcome.refusal !== UNREACHABLE) answer(outcome);
        });
        const patienceMs = attempt === 0 ? SLOW_MS : AGAIN_MS;
        const pause = new Promise<undefined>(resolve => setTimeout(resolve, patienceMs));
        const outcome = await Promise.race([answered, pause]);
        if (outcome !== undefined) return outcome;
        if (attempt === 0) onSlow();
      }
      return { refusal: UNREACHABLE };
    },
  };
}
