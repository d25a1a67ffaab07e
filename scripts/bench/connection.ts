import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

interface LoadAnswer {
  readonly status: number;
  readonly text: string;
}

const HEAD_END = '\r\n\r\n';

/** The tokens of an operator and of a referee. The daemon is measured with tokens, as in a match. */
export const SECRET = 'bench-bench-bench-bench-bench-bench-bench-bench';
export const REFEREE = 'rules-rules-rules-rules-rules-rules-rules-rules';
export const NO_SECRET = '';

/** The bytes of one request, which may be sent many times. */
export function request(method: string, path: string, body?: unknown, secret = SECRET): Buffer {
  const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
  const type = body === undefined ? '' : 'Content-Type: application/json\r\n';
  const length = `Content-Length: ${Buffer.byteLength(text)}`;
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${headOf(secret)}${type}${length}${HEAD_END}${text}`);
}

function headOf(secret: string): string {
  const authorization = secret === NO_SECRET ? '' : `Authorization: Bearer ${secret}\r\n`;
  return `Host: 127.0.0.1\r\n${authorization}`;
}

/**
 * One keep-alive connection with one request at a time. It reads only the status and the length of an answer, so that
 * it takes less processor time than the measured server.
 */
export class Connection {
  readonly #socket: Socket;
  #received: Buffer = Buffer.alloc(0);
  #answered: ((answer: LoadAnswer) => void) | undefined;
  #failed: ((error: Error) => void) | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket.setNoDelay(true);
    socket.on('data', part => this.#take(part));
    socket.on('error', error => this.#end(error));
    socket.on('close', () => this.#end(new Error('the server closed the connection')));
  }

  /** Every address in 127.0.0.0/8 is this machine. */
  static async open(port: number, localAddress = '127.0.0.1'): Promise<Connection> {
    const socket = connect({ port, host: '127.0.0.1', localAddress });
    await once(socket, 'connect');
    return new Connection(socket);
  }

  send(bytes: Buffer): Promise<LoadAnswer> {
    return new Promise((resolve, reject) => {
      if (this.#socket.destroyed) return reject(new Error('the server closed the connection'));
      this.#answered = resolve;
      this.#failed = reject;
      this.#socket.write(bytes);
    });
  }

  close(): void {
    this.#failed = undefined;
    this.#socket.destroy();
  }

  #take(part: Buffer): void {
    this.#received = this.#received.length === 0 ? part : Buffer.concat([this.#received, part]);
    const headEnd = this.#received.indexOf(HEAD_END);
    if (headEnd < 0) return;
    const head = this.#received.toString('latin1', 0, headEnd);
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    const end = headEnd + HEAD_END.length + Number(length ?? 0);
    if (this.#received.length < end) return;
    const text = this.#received.toString('utf8', headEnd + HEAD_END.length, end);
    this.#received = this.#received.subarray(end);
    const answered = this.#answered;
    this.#answered = undefined;
    this.#failed = undefined;
    answered?.({ status: Number(head.slice(9, 12)), text });
  }

  #end(error: Error): void {
    const failed = this.#failed;
    this.#answered = undefined;
    this.#failed = undefined;
    failed?.(error);
  }
}

/** A client of the event stream that reads everything and stores nothing. */
export async function openStream(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(`GET /api/events HTTP/1.1\r\n${headOf(SECRET)}Accept: text/event-stream\r\n\r\n`);
  const gone = once(socket, 'close').then(() => Promise.reject(new Error('the server closed the stream')));
  const [first] = await Promise.race([once(socket, 'data'), gone]);
  gone.catch(() => undefined);
  if (!String(first).startsWith('HTTP/1.1 200')) {
    // A refused connection that stays open makes the daemon close an idle one.
    socket.destroy();
    throw new Error(`no stream: ${String(first).slice(0, 80)}`);
  }
  socket.resume();
  return socket;
}
