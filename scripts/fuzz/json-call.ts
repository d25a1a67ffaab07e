/** What a GET answers; fails when it is no 200 within `withinMs`. */
export async function call(url: URL, withinMs: number): Promise<unknown> {
  const response = await fetch(url, { signal: AbortSignal.timeout(withinMs) });
  if (response.status !== 200) throw new Error(`GET ${url}: ${response.status} ${await response.text()}`);
  return response.json();
}
