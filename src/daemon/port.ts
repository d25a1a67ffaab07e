import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import type { Clock } from '../core/clock.js';
import { describeError, RobotError } from '../core/errors.js';
import { createHttpServer } from '../http/server.js';

/** Requests that are under way at the end have this long to be answered. */
const GRACE_MS = 200;

/**
 * How many connections may wait to be accepted. A burst beyond it costs an honest client a second before it tries
 * again.
 */
const BACKLOG = 4096;

/** A port that this process listens on. Requests wait until somebody serves them. */
export interface Port {
  readonly address: AddressInfo;
  /** An address that a browser on this machine can open. */
  readonly url: string;
  /** Answers the requests that have waited, except those of callers who are gone, and all that come later. */
  serve(listener: RequestListener): void;
  /** Lets answers under way end for a short time, and cuts streams and slow callers. */
  close(): Promise<void>;
}

/** Rejects with `cannot-listen`. */
export async function openPort(
  { host, port }: { readonly host: string; readonly port: number },
  { log, clock }: { readonly log: Logger; readonly clock: Clock },
): Promise<Port> {
  const waiting: [IncomingMessage, ServerResponse][] = [];
  let answer: RequestListener = (request, response) => waiting.push([request, response]);
  const server = createHttpServer((request, response) => answer(request, response));
  const address = await listen(server, host, port);
  // An error here, such as too many open files, loses one connection, and the daemon goes on.
  server.on('error', error => log.warn(describeError(error), 'connection not accepted'));
  return {
    address,
    url: urlOf(address),
    serve: listener => {
      answer = listener;
      for (const [request, response] of waiting.splice(0)) if (!response.closed) listener(request, response);
    },
    close: async () => {
      const closed = new Promise(resolve => server.close(resolve));
      server.closeIdleConnections();
      const grace = clock.after(GRACE_MS, () => server.closeAllConnections());
      await closed;
      grace.cancel();
    },
  };
}

function listen(server: Server, host: string, port: number): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    const refused = (error: unknown) =>
      reject(new RobotError('cannot-listen', { host, port }, { cause: error }));
    server.once('error', refused);
    server.listen({ port, host, backlog: BACKLOG }, () => {
      server.off('error', refused);
      const bound = server.address();
      if (bound !== null && typeof bound === 'object') resolve(bound);
    });
  });
}

function urlOf({ address, family, port }: AddressInfo): string {
  if (address === '0.0.0.0' || address === '::') return `http://127.0.0.1:${port}`;
  return family === 'IPv6' ? `http://[${address}]:${port}` : `http://${address}:${port}`;
}

/** Whether only programs on this board reach a port that listens on `host`. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.');
}
