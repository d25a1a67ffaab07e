import { once } from 'node:events';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import type { Clock } from '../core/clock.js';
import { describeError, RobotError } from '../core/errors.js';
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

/** Opens a port. Requests wait until `serve` is called. Rejects with `cannot-listen`. */
export async function openPort(
  { host, port }: { readonly host: string; readonly port: number },
  { log, clock }: { readonly log: Logger; readonly clock: Clock },
) {
  const waiting: [IncomingMessage, ServerResponse][] = [];
  let answer: RequestListener = (request, response) => waiting.push([request, response]);
  const server = createHttpServer((request, response) => answer(request, response), containment(log));
  const address = await listen(server, host, port);
  // An error, such as too many open files, loses one connection only.
  server.on('error', error => log.warn(describeError(error), 'connection not accepted'));
  return {
    address,
    /** An address that a browser on this machine can open. */
    url: urlOf(address),
    /** Answers the waiting requests whose callers are still connected, and all later requests. */
    serve: (listener: RequestListener): void => {
      answer = listener;
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
    throw new RobotError('cannot-listen', { host, port }, { cause });
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
