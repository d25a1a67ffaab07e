import { call } from '../support/daemon.js';

/** The time limit of auxiliary calls. Only the fuzzed requests are timed. */
const PATIENCE_MS = 10_000;

/** Resolves with the body of the answer. Rejects if it is not a 200. */
export async function jsonOf(url: string, path: string, method = 'GET', body?: unknown): Promise<unknown> {
  const answer = await call(url, method, path, body, {}, AbortSignal.timeout(PATIENCE_MS));
  if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
  return answer.body;
}
