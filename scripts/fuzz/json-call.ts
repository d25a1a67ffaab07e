/** The patience for calls between the odd requests, of which alone the time counts. */
const PATIENCE_MS = 10_000;

/** Resolves with the answer; rejects where it is no 200. */
export async function call(url: URL, method = 'GET', body?: unknown): Promise<unknown> {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const json = { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const response = await fetch(url, { method, signal, ...(body !== undefined && json) });
  if (response.status !== 200)
    throw new Error(`${method} ${url}: ${response.status} ${await response.text()}`);
  return response.json();
}
