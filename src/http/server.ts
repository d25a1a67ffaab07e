import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ErrorCode, RobotError } from '../core/errors.js';
import { problemOf } from './problems.js';

/** Requests sent on one connection before the answers: browsers send one. */
const PIPELINED = 2;
const PER_ADDRESS = 64;
const IN_ALL = 256;

interface Connection {
  readonly socket: Socket;
  readonly address: string;
  /** The one that is read or answered now. */
  exchange: { readonly request: IncomingMessage; readonly response: ServerResponse } | undefined;
  /** Requests that are not answered yet. */
  waiting: number;
}

/**
 * An HTTP server that one slow or hostile client cannot take from the others. Slow requests are ended within seconds;
 * where connections get many, the oldest one that is not being answered makes room, so that a newcomer with a request
 * to make always gets in.
 */
export function createHttpServer(listener: RequestListener): Server {
  const server = createServer({
    headersTimeout: 3000,
    requestTimeout: 5000,
    connectionsCheckingInterval: 1000,
    keepAliveTimeout: 5000,
    maxHeaderSize: 8192,
    requireHostHeader: false,
  });
  // A client that has said all may close its side and still gets its answer.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  const connections = new Map<Socket, Connection>();

  server.on('connection', socket => {
    const connection: Connection = {
      socket,
      address: socket.remoteAddress ?? '',
      exchange: undefined,
      waiting: 0,
    };
    connections.set(socket, connection);
    socket.once('close', () => connections.delete(socket));
    makeRoom(connections, connection);
  });
  server.on('request', (request, response) => {
    const connection = connections.get(request.socket);
    if (connection === undefined || connection.waiting >= PIPELINED) {
      request.socket.destroy();
      return;
    }
    connection.waiting += 1;
    connection.exchange = { request, response };
    response.once('close', () => {
      connection.waiting -= 1;
      if (connection.waiting === 0) connection.exchange = undefined;
    });
    listener(request, response);
  });
  server.on('clientError', refuse);
  return server;
}

/** Connections stand in the map in the order of their arrival. */
function makeRoom(connections: ReadonlyMap<Socket, Connection>, newcomer: Connection): void {
  const all = [...connections.values()];
  const ofAddress = all.filter(connection => connection.address === newcomer.address);
  if (ofAddress.length > PER_ADDRESS) dropOne(ofAddress);
  else if (all.length > IN_ALL) dropOne(ofBusiestAddress(all));
}

function dropOne(candidates: readonly Connection[]): void {
  (candidates.find(isWaitedFor) ?? candidates.at(-1))?.socket.destroy();
}

/** Its client has not said all, or does not read what was answered. */
function isWaitedFor({ exchange }: Connection): boolean {
  return exchange === undefined || !exchange.request.complete || exchange.response.writableEnded;
}

function ofBusiestAddress(all: readonly Connection[]): readonly Connection[] {
  const groups = new Map<string, Connection[]>();
  for (const connection of all) {
    const group = groups.get(connection.address);
    if (group === undefined) groups.set(connection.address, [connection]);
    else group.push(connection);
  }
  return [...groups.values()].reduce((most, group) => (group.length > most.length ? group : most));
}

const CLIENT_ERRORS: Readonly<Record<string, ErrorCode>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'request-timeout',
  HPE_HEADER_OVERFLOW: 'headers-too-large',
};

/** What Node's parser refuses never becomes a request, so it is answered by hand. */
function refuse(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const code = CLIENT_ERRORS[error.code ?? ''] ?? 'bad-http';
  const { problem } = problemOf(new RobotError(code));
  const body = JSON.stringify(problem);
  socket.end(
    `HTTP/1.1 ${problem.status} ${problem.title}\r\nConnection: close\r\n` +
      `Content-Type: application/problem+json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
