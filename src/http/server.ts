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

const PER_ADDRESS = 64;
const IN_ALL = 256;

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

interface Connection {
  readonly socket: Socket;
  readonly address: string;
  /** Whether a request on it was answered to the end. */
  answered: boolean;
  /** The request that is being read or answered. */
  exchange: Exchange | undefined;
  /** A request that was sent before that answer had ended. It waits for the end. */
  next: Exchange | undefined;
  /** Set where what came after these is no request. It is refused when they have been answered. */
  refusal: Error | undefined;
}

/**
 * An HTTP server that one slow or hostile client cannot take from the others. Slow requests are ended within seconds;
 * where connections get many, one that is of no use to anybody makes room, so that a newcomer with a request to make
 * always gets in.
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
  const connections = new Map<Duplex, Connection>();

  server.on('connection', socket => {
    const connection: Connection = {
      socket,
      address: socket.remoteAddress ?? '',
      answered: false,
      exchange: undefined,
      next: undefined,
      refusal: undefined,
    };
    makeRoom(connections, connection);
    connections.set(socket, connection);
    socket.once('close', () => connections.delete(socket));
  });

  const answer = (connection: Connection, exchange: Exchange) => {
    connection.exchange = exchange;
    exchange.response.on('close', () => {
      const { next, refusal, socket } = connection;
      connection.answered = true;
      connection.exchange = undefined;
      connection.next = undefined;
      if (next !== undefined && !socket.destroyed) answer(connection, next);
      else if (refusal !== undefined) refuse(refusal, socket);
    });
    listener(exchange.request, exchange.response);
  };

  // Node hands over a request that was sent too early at once, and never closes its answer if the connection ends first.
  server.on('request', (request, response) => {
    const connection = connections.get(request.socket);
    if (connection === undefined || connection.next !== undefined) {
      request.socket.destroy();
      // There may be hundreds in one piece. When the connection closes, Node makes an error for each of them, and
      // writes its stack out unless the request was destroyed before.
      request.destroy();
    } else if (connection.exchange === undefined) answer(connection, { request, response });
    else connection.next = { request, response };
  });
  server.on('clientError', (error, socket) => {
    const connection = connections.get(socket);
    if (connection?.exchange?.request.complete !== true) return refuse(error, socket);
    if (connection.next?.request.complete === false) connection.next = undefined;
    connection.refusal = error;
  });
  return server;
}

/** Connections stand in the map in the order of their arrival. */
function makeRoom(connections: ReadonlyMap<Duplex, Connection>, newcomer: Connection): void {
  const all = [...connections.values()];
  const ofAddress = all.filter(connection => connection.address === newcomer.address);
  if (ofAddress.length >= PER_ADDRESS) leastUseful(ofAddress, newcomer).socket.destroy();
  else if (all.length >= IN_ALL) leastUseful(all, newcomer).socket.destroy();
}

/**
 * Who goes, in this order: whoever was never answered and has not sent a whole request; whoever does not read the
 * answer; whoever rests, or is still sending another request.
 */
const USELESS: readonly ((connection: Connection) => boolean)[] = [
  ({ answered, exchange }) => !answered && exchange?.request.complete !== true,
  ({ exchange }) => exchange?.response.writableEnded === true,
  ({ exchange }) => exchange?.request.complete !== true,
];

/** The oldest one of the busiest address; the newcomer where all others are being answered. */
function leastUseful(all: readonly Connection[], newcomer: Connection): Connection {
  for (const isUseless of USELESS) {
    const [oldest] = ofBusiestAddress(all.filter(isUseless));
    if (oldest !== undefined) return oldest;
  }
  return newcomer;
}

function ofBusiestAddress(all: readonly Connection[]): readonly Connection[] {
  const groups = new Map<string, Connection[]>();
  for (const connection of all) {
    const group = groups.get(connection.address);
    if (group === undefined) groups.set(connection.address, [connection]);
    else group.push(connection);
  }
  return [...groups.values()].reduce((most, group) => (group.length > most.length ? group : most), []);
}

const CLIENT_ERRORS: Readonly<Record<string, ErrorCode>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'request-timeout',
  HPE_HEADER_OVERFLOW: 'headers-too-large',
};

/**
 * What Node's parser refuses never becomes a request, so it is answered by hand. Then the connection is gone: the rest of
 * a request that was refused for its slowness must not be obeyed.
 */
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
    () => socket.destroy(),
  );
}
