import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import type { Clock } from '../core/clock.js';
import { describeError, RobotError } from '../core/errors.js';
import { createHttpServer } from '../http/server.js';

/** So long the requests that are under way at the end have to be answered. */
const GRACE_MS = 200;

/** Connections that wait to be accepted: a burst beyond it would cost an honest client a second of its own retry. */
const BACKLOG = 4096;

/** A port that is ours. Requests wait until somebody serves them. */
export interface Port {
  readonly address: AddressInfo;
  /** One that a browser on this machine can open. */
  readonly url: string;
  /** Answers what has waited, except to callers who are gone, and all that comes. */
  serve(listener: RequestListener): void;
  /** What is being answered may end; streams and the slow are cut. */
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
  // Such as too many open files: one connection is lost, and the daemon goes on.
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
