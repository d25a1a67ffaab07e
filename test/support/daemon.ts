import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers whose shape they assert.
  readonly body: any;
  readonly text: string;
}

/** Sends a real HTTP request over a socket. A body that is a string is sent as it is, any other as JSON. */
export async function call(
  url: string,
  method: string,
  path: string,
  body?: unknown,
  headers = {},
  signal?: AbortSignal,
): Promise<HttpAnswer> {
  const response = await fetch(new URL(path, url), {
    method,
    signal,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = /[/+]json\b/.test(response.headers.get('content-type') ?? '');
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson && text !== '' ? JSON.parse(text) : undefined,
  };
}

/** A port of this machine that nobody uses. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = portOf(server);
  await new Promise(resolve => server.close(resolve));
  return port;
}

export function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not listening');
  return address.port;
}

/** Retries, because a daemon that is still running may add a file at this moment. */
function removeFolder(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true, maxRetries: 10 });
}

/** Makes a folder, which is removed when `act` has ended. */
export async function inTemporaryFolder<T>(act: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'trunnion-'));
  try {
    return await act(folder);
  } finally {
    await removeFolder(folder);
  }
}

/** Makes a folder when it is first asked for, and removes it in this hook. */
function folderUntil(hook: typeof after, parent = tmpdir()): () => string {
  let folder: string | undefined;
  hook(async () => {
    if (folder !== undefined) await removeFolder(folder);
    folder = undefined;
  });
  return () => {
    folder ??= mkdtempSync(join(parent, 'trunnion-'));
    return folder;
  };
}

/** A folder for each test of a suite. Call this after the `afterEach` that ends its users. */
export const temporaryFolder = () => folderUntil(afterEach);

/** A folder for a whole suite. Call this after the `after` that ends its users. */
export const suiteFolder = (parent?: string) => folderUntil(after, parent);

/**
 * Checks until the condition holds, or until the test times out. Use it for things that a running daemon does without
 * the test.
 */
export async function eventually(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise(resolve => setImmediate(resolve));
}
