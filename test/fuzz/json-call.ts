/** The time limit of auxiliary calls. Only the fuzzed requests are timed. */
const PATIENCE_MS = 10_000;

/** Resolves with the answer. Rejects if it is not a 200. */
export async function call(url: URL, method = 'GET', body?: unknown): Promise<unknown> {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const json = { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const response = await fetch(url, { method, signal, ...(body !== undefined && json) });
  if (response.status !== 200)
    throw new Error(`${method} ${url}: ${response.status} ${await response.text()}`);
  return response.json();
}
