import type { Server } from 'node:http';
import { Duplex } from 'node:stream';
import type { Role } from '../../src/access/roles.js';
import { secretOf } from './access-model.js';

export interface Request {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  /** The role whose token the request carries. */
  readonly as?: Role;
}

export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the walk looks into answers whose shape the interface promises.
  readonly body: any;
}

/** Done, or begun. */
export function isTaken({ status }: Answer): boolean {
  return status === 200 || status === 202;
}

export interface Call {
  readonly answer: Promise<Answer>;
  hangUp(): void;
}

/** One request on a connection of its own, in this process and without a socket, so that nothing waits for the kernel. */
export function ask(server: Server, { method, path, body, as }: Request): Call {
  const received: Buffer[] = [];
  let settle: (answer: Answer) => void = () => undefined;
  const answer = new Promise<Answer>(resolve => {
    settle = resolve;
  });
  const connection = new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _, done) => {
      received.push(chunk);
      const whole = parsed(Buffer.concat(received).toString());
      if (whole !== undefined) {
        settle(whole);
        connection.push(null);
      }
      done();
    },
  });
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

/** Undefined while more is to come; every answer of the interface but a stream says its length. */
function parsed(text: string): Answer | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const status = Number(text.slice(9, 12));
  const length = Number(/^content-length: (\d+)/im.exec(text)?.[1] ?? 0);
  const body = text.slice(end + 4);
  if (Buffer.byteLength(body) < length) return undefined;
  return { status, body: body === '' ? undefined : JSON.parse(body) };
}
