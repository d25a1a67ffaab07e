import type { Server } from 'node:http';
import { Duplex } from 'node:stream';
import type { Role } from '../../src/access/roles.js';
import { secretOf } from './walk-tokens.js';

export interface Request {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  /** The role whose token the request carries. */
  readonly as?: Role;
  /** True if the caller has another address than usual. */
  readonly elsewhere?: true;
}

/** The members of a body that the walk reads. */
export type AnyBody = Readonly<Record<string, unknown>>;

/** `Body` is the type of the body of a 200. */
export interface Answer<Body = AnyBody> {
  readonly status: number;
  readonly body: Body | undefined;
}

/** True if the request was done (200) or begun (202). */
export function isTaken({ status }: Answer<unknown>): boolean {
  return status === 200 || status === 202;
}

export interface Call<Body = AnyBody> {
  readonly answer: Promise<Answer<Body>>;
  hangUp(): void;
}

/**
 * Sends one request on its own connection. The connection stays in this process and has no socket, so that nothing
 * waits for the kernel.
 */
export function ask<Body = AnyBody>(
  server: Server,
  { method, path, body, as, elsewhere }: Request,
): Call<Body> {
  const received: Buffer[] = [];
  let settle: (answer: Answer<Body>) => void = () => undefined;
  const answer = new Promise<Answer<Body>>(resolve => {
    settle = resolve;
  });
  const connection = new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _, done) => {
      received.push(chunk);
      const whole = parsed<Body>(Buffer.concat(received).toString());
      if (whole !== undefined) {
        settle(whole);
        connection.push(null);
      }
      done();
    },
  });
  Object.assign(connection, { remoteAddress: elsewhere ? '192.0.2.2' : '192.0.2.1' });
  server.emit('connection', connection);
  const text = body === undefined ? '' : JSON.stringify(body);
  const type = body === undefined ? '' : 'Content-Type: application/json\r\n';
  const length = method === 'POST' ? `Content-Length: ${Buffer.byteLength(text)}\r\n` : '';
  const token = as === undefined ? '' : `Authorization: Bearer ${secretOf(as)}\r\n`;
  connection.push(
    `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${token}${type}${length}\r\n${text}`,
  );
  return { answer, hangUp: () => connection.destroy() };
}

/** Undefined until the answer is complete. All answers except streams have a Content-Length. */
function parsed<Body>(text: string): Answer<Body> | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const status = Number(text.slice(9, 12));
  const length = Number(/^content-length: (\d+)/im.exec(text)?.[1] ?? 0);
  const body = text.slice(end + 4);
  if (Buffer.byteLength(body) < length) return undefined;
  return { status, body: body === '' ? undefined : JSON.parse(body) };
}
