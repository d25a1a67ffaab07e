import { once } from 'node:events';
import { chmod, mkdir, rm } from 'node:fs/promises';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { dirname } from 'node:path';
import type { Logger } from 'pino';
import type { Clock } from '../core/clock.js';
import { describeError, errnoOf, RobotError, succeeds } from '../core/errors.js';
import type { Arrivals } from '../http/arrivals.js';
import { containment } from '../http/contain.js';
import { createHttpServer } from '../http/server.js';

/** How long requests in flight may take when the daemon ends. */
const GRACE_MS = 200;

/**
 * The number of connections that may wait to be accepted. In a larger burst the kernel drops connections, and clients
 * retry after a second.
 */
const BACKLOG = 4096;

export type Port = Awaited<ReturnType<typeof openPort>>;

interface PortParts {
  readonly log: Logger;
  readonly clock: Clock;
}

/** Opens a port. Requests wait until `serve` is called. Rejects with `cannot-listen`. */
export async function openPort(
  { host, port }: { readonly host: string; readonly port: number },
  parts: PortParts,
) {
  const { server, ...requests } = httpServer(parts);
  const address = await listen(server, host, port);
  // `url` is an address that a browser on this machine can open.
  return { address, url: urlOf(address), ...requests };
}

/**
 * Opens the socket where root on the board needs no token. Requests wait until `serve` is called. If the socket cannot
 * be opened, the daemon runs without it.
 */
export async function openRootSocket(path: string, parts: PortParts) {
  const { server, ...requests } = httpServer(parts);
  try {
    await mkdir(dirname(path), { recursive: true });
    if (await isAnswered(path)) throw new Error(`another daemon has ${path}`);
    await rm(path, { force: true });
    await once(server.listen(path), 'listening');
    await chmod(path, 0o600);
  } catch (error) {
    parts.log.error(
      describeError(error),
      'no local socket: trunnion stop and other commands reach this daemon only with --url',
    );
  }
  return requests;
}

async function isAnswered(path: string): Promise<boolean> {
  const socket = connect(path);
  return succeeds(once(socket, 'connect')).finally(() => socket.destroy());
}

function httpServer({ log, clock }: PortParts) {
  const waiting: [IncomingMessage, ServerResponse][] = [];
  let answer: RequestListener = (request, response) => waiting.push([request, response]);
  const server = createHttpServer((request, response) => answer(request, response), containment(log));
  // After the start, an error such as too many open files loses one connection only.
  server.on('error', error => {
    if (server.listening) log.warn(describeError(error), 'connection not accepted');
  });
  return {
    server,
    /** Answers the waiting requests whose callers are still connected, and all later requests. */
    serve: (listener: RequestListener, arrivals?: Arrivals): void => {
      answer = listener;
      if (arrivals !== undefined) server.on('connection', arrivals.accepting());
      for (const [request, response] of waiting.splice(0)) if (!response.closed) listener(request, response);
    },
    /** Gives requests in flight a short time to end. Then cuts streams and slow callers. */
    close: async (): Promise<void> => {
      const closed = new Promise(resolve => server.close(resolve));
      server.closeIdleConnections();
      const grace = clock.after(GRACE_MS, () => server.closeAllConnections());
      await closed;
      grace.cancel();
    },
  };
}

async function listen(server: Server, host: string, port: number): Promise<AddressInfo> {
  try {
    await once(server.listen({ port, host, backlog: BACKLOG }), 'listening');
  } catch (cause) {
    const reasons: Readonly<Record<string, string>> = {
      EACCES: `only root may listen on ${port}`,
      EADDRINUSE: `another program has port ${port}`,
    };
    const reason = reasons[errnoOf(cause) ?? ''] ?? `${host} is no address of this machine, or not yet`;
    throw new RobotError('cannot-listen', { host, port, reason }, { cause });
  }
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new TypeError('not a port');
  return bound;
}

/** The URL for programs on this machine. */
export function urlOf({ address, port }: Pick<AddressInfo, 'address' | 'port'>): string {
  if (address === '0.0.0.0' || address === '::') return `http://127.0.0.1:${port}`;
  return address.includes(':') ? `http://[${address}]:${port}` : `http://${address}:${port}`;
}
