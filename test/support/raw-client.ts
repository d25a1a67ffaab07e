import { connect, type Socket } from 'node:net';

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
