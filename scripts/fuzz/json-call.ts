/** For what is asked between the odd requests, whose own time is what counts. */
const PATIENCE_MS = 10_000;

/** What a GET answers; fails when it is no 200. */
export async function call(url: URL): Promise<unknown> {
  const response = await fetch(url, { signal: AbortSignal.timeout(PATIENCE_MS) });
  if (response.status !== 200) throw new Error(`GET ${url}: ${response.status} ${await response.text()}`);
  return response.json();
}
