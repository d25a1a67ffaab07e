import type { Told } from './robot-state.js';

export interface Refusal extends Told {
  /** Each fault of a body, by JSON pointer. */
  readonly errors: readonly { readonly pointer: string; readonly detail: string }[];
}

export type Outcome<T> = { readonly body: T } | { readonly refusal: Refusal };

export interface ApiOptions {
  /** A request waits suspiciously long: the browser may have no connection left for it. */
  readonly onStuck: () => void;
}

export type Api = ReturnType<typeof createApi>;

const STUCK_MS = 400;
const DEADLINE_MS = 4000;
/** A stop is tried again and again, and soon. */
const STOP_DEADLINE_MS = 1000;
const STOP_TRIES = 5;

const UNREACHABLE: Refusal = {
  code: 'unreachable',
  detail: 'The daemon does not answer. Check its power and the network.',
  errors: [],
};

export function createApi({ onStuck }: ApiOptions) {
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
    /** For what makes the robot safe: asked some more times while the daemon does not answer. */
    async insist<T>(path: string, body?: unknown): Promise<Outcome<T>> {
      let outcome: Outcome<T> = { refusal: UNREACHABLE };
      for (let attempt = 0; attempt < STOP_TRIES; attempt += 1) {
        const startMs = performance.now();
        outcome = await call<T>('POST', path, body, STOP_DEADLINE_MS);
        if (!('refusal' in outcome) || outcome.refusal !== UNREACHABLE) return outcome;
        const restMs = STOP_DEADLINE_MS - (performance.now() - startMs);
        await new Promise(resolve => setTimeout(resolve, Math.max(0, restMs / 2)));
      }
      return outcome;
    },
  };
}

export function refusalOf(outcome: Outcome<unknown>): Refusal | undefined {
  return 'refusal' in outcome ? outcome.refusal : undefined;
}
