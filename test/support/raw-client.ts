import { connect, type Socket } from 'node:net';

/** A request as bytes. A body is sent as JSON. */
export function requestText(path: string, body: object, method = 'POST'): string {
  const text = JSON.stringify(body);
  const head = `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`;
  return `${head}Content-Length: ${text.length}\r\n\r\n${text}`;
}

/** One TCP connection, and the text received so far. */
export class RawClient {
  readonly socket: Socket;
  readonly closed: Promise<void>;
  text = '';

  /** Every address in 127.0.0.0/8 is this machine. */
  constructor(port: number, sent: string, localAddress = '127.0.0.1') {
    this.socket = connect({ port, host: '127.0.0.1', localAddress }).setEncoding('utf8');
    this.closed = new Promise<void>(resolve => this.socket.on('close', () => resolve()));
    this.socket.on('error', () => undefined);
    this.socket.on('data', data => {
      this.text += data;
    });
    if (sent !== '') this.socket.write(sent);
  }
}
