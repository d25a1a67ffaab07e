import type { Server } from 'node:http';
import { Duplex } from 'node:stream';
import { CALLERS, isCaller } from './callers.js';
import { parsed, type Received } from './raw-answer.js';

/** A request of one caller. */
export interface Sent {
  /** Method and path. */
  readonly ask: string;
  /** The name of the caller's token. A name that is in no list gets an unknown token. */
  readonly as?: string;
  /** The caller's address. */
  readonly from?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body, sent as JSON. */
  readonly body?: unknown;
  /** The body, sent without a change. */
  readonly text?: string;
}

/**
 * A request on its own connection. The connection stays in this process and has no socket, so that nothing waits for
 * the kernel. `Body` is the type of the answer's body.
 */
export class MemoryCall<Body = unknown> {
  /** Resolves when the answer is complete. A stream counts as complete as soon as it has sent something. */
  readonly answer: Promise<Received<Body>>;
  /** Called for each part of the answer. */
  hear: (part: string) => void = () => undefined;
  readonly #connection: Duplex;
  readonly #method: string;
  #bytes = Buffer.alloc(0);
  #ended = false;
  #resolve: (answer: Received<Body>) => void = () => undefined;

  constructor(server: Server, sent: Sent) {
    this.#method = sent.ask.split(' ')[0] ?? '';
    this.answer = new Promise(resolve => {
      this.#resolve = resolve;
    });
    this.#connection = new Duplex({
      read: () => undefined,
      write: (chunk: Buffer, _, done) => {
        this.#bytes = Buffer.concat([this.#bytes, chunk]);
        this.#look();
        this.hear(String(chunk));
        done();
      },
      final: done => {
        this.#ended = true;
        this.#look();
        done();
        this.#connection.push(null);
      },
    });
    const address = { remoteAddress: sent.from ?? '192.0.2.1', localPort: 8080 };
    Object.assign(this.#connection, address, { setNoDelay: () => this.#connection });
    server.emit('connection', this.#connection);
    this.#connection.push(bytesOf(sent));
  }

  /** The answer as it has arrived so far. Undefined until it is complete. */
  get received(): Received<Body> | undefined {
    const answer = parsed(this.#bytes, { method: this.#method, ended: this.#ended });
    return answer as Received<Body> | undefined;
  }

  hangUp(): void {
    this.#connection.destroy();
  }

  #look(): void {
    const { received } = this;
    if (received !== undefined) this.#resolve(received);
  }
}

function bytesOf({ ask, as, headers = {}, body, text }: Sent): Buffer {
  const content = text ?? JSON.stringify(body) ?? '';
  const all: Record<string, string> = {
    Host: 'localhost:8080',
    Connection: 'close',
    ...(as !== undefined && {
      Authorization: `Bearer ${isCaller(as) ? CALLERS[as].secret : '0000-0000'}`,
    }),
    ...(body !== undefined && { 'Content-Type': 'application/json' }),
    ...(!/^(GET|HEAD|OPTIONS)/.test(ask) && { 'Content-Length': String(Buffer.byteLength(content)) }),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return Buffer.from(`${ask} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${content}`);
}
