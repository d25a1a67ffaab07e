import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ErrorCode, RobotError } from '../core/errors.js';
import { SECURITY_HEADERS } from './answer.js';
import type { Contain } from './contain.js';
import { PROBLEM_TYPE, problemOf } from './problems.js';

const PER_ADDRESS = 64;
const IN_ALL = 256;
/** An address with at most this many connections loses none while another address has more. */
const FAIR_SHARE = 8;
/**
 * A connection without a request may be new, with its request still arriving. This many of the newest ones
 * stay open while others can be closed.
 */
const ARRIVING = 8;

/** How long the server waits for a slow client: for all headers, and for the whole request. How often it checks both. */
const PATIENCE = { headersMs: 3000, requestMs: 5000, checkMs: 1000 };
export type Patience = typeof PATIENCE;

type Exchange = Parameters<RequestListener>;

interface Connection {
  readonly socket: Socket;
  readonly address: string;
  /** The request that the server is reading or answering. */
  exchange?: Exchange | undefined;
  /**
   * True if the next request may have waited unread: behind a body that was not read before the answer, or while Node
   * paused the socket because the client did not read an answer.
   */
  isBehind?: boolean;
  /** The last request that was answered; undefined before the first. If its body is not complete, nothing is answered for what is wrong with the rest. */
  last?: IncomingMessage;
  /** A request that arrived before the answer to `exchange` was complete. It waits. */
  next?: Exchange | undefined;
  /** Why the bytes after these requests are not a request. The server sends the refusal after the answers. */
  refusal?: Error;
}

const trusted = new WeakSet<Socket>();
const waited = new WeakSet<IncomingMessage>();

/** Whether the request waited for the one before on its connection. It may have waited for any time. */
export function hasWaited(request: IncomingMessage): boolean {
  return waited.has(request);
}

/**
 * Marks the connection of a caller with rights. At the limit of connections, the server closes others before
 * it.
 */
export function keepInFlood(socket: Socket): void {
  trusted.add(socket);
}

/**
 * An HTTP server that a slow or hostile client cannot block for others. It ends slow requests within seconds.
 * At the limit of connections, it closes one for each new one.
 */
export function createHttpServer(listener: RequestListener, contain: Contain, patience = PATIENCE): Server {
  const server = createServer({
    headersTimeout: patience.headersMs,
    requestTimeout: patience.requestMs,
    connectionsCheckingInterval: patience.checkMs,
    keepAliveTimeout: 5000,
    maxHeaderSize: 8192,
    requireHostHeader: false,
  });
  // A client may half-close the connection after its request and still receives the response.
  Object.assign(server, { httpAllowHalfOpen: true });
  const connections = new Map<Duplex, Connection>();
  const close = (socket: Duplex) => socket.destroy();

  const opened = (socket: Socket) => {
    const connection: Connection = { socket, address: socket.remoteAddress ?? '' };
    makeRoom([...connections.values()], connection.address);
    connections.set(socket, connection);
    const forget = () => connections.delete(socket);
    socket.once('close', contain(forget));
  };
  const answer = (connection: Connection, exchange: Exchange) => {
    connection.exchange = exchange;
    const answered = () => {
      const { next, refusal, socket } = connection;
      connection.last = exchange[0];
      if (!exchange[0].complete) connection.isBehind = true;
      connection.exchange = undefined;
      connection.next = undefined;
      if (next !== undefined && !socket.destroyed) answer(connection, next);
      else if (refusal !== undefined) refuse(refusal, socket);
    };
    exchange[1].on('close', contain(answered));
    listener(...exchange);
  };
  // Node emits a pipelined request at once. If the connection ends before the answer, Node never closes that
  // request's response.
  const requested = (...[request, response]: Exchange) => {
    const connection = connections.get(request.socket);
    if (connection === undefined || connection.next !== undefined) {
      request.socket.destroy();
      // A packet may contain hundreds of requests. When the connection closes, Node creates an error with its stack
      // for each request that is not destroyed.
      request.destroy();
      return;
    }
    if (connection.isBehind || connection.exchange !== undefined) waited.add(request);
    connection.isBehind = request.socket.isPaused();
    if (connection.exchange === undefined) answer(connection, [request, response]);
    else connection.next = [request, response];
  };
  const failed = (error: Error, socket: Duplex) => {
    const connection = connections.get(socket);
    if (connection?.exchange === undefined && connection?.last?.complete === false) return close(socket);
    if (connection?.exchange?.[0].complete !== true) return refuse(error, socket);
    if (connection.next?.[0].complete === false) connection.next = undefined;
    connection.refusal = error;
  };

  const hangUp = ({ socket }: IncomingMessage) => close(socket);
  const cut = (_: Error, socket: Duplex) => close(socket);
  server.on('connection', contain(opened, close));
  server.on('request', contain(requested, hangUp));
  server.on('checkExpectation', contain(requested, hangUp));
  server.on('clientError', contain(failed, cut));
  return server;
}

/**
 * Closes a connection if the newcomer's address has `PER_ADDRESS` connections already, or if there are
 * `IN_ALL`.
 */
function makeRoom(all: readonly Connection[], newcomer: string): void {
  const ofAddress = all.filter(({ address }) => address === newcomer);
  if (ofAddress.length >= PER_ADDRESS) leastUseful(ofAddress)?.socket.destroy();
  else if (all.length >= IN_ALL) leastUseful(all)?.socket.destroy();
}

/** The connection to close. `all` has the oldest connection first. */
function leastUseful(all: readonly Connection[]): Connection | undefined {
  const counts = new Map<string, number>();
  for (const { address } of all) counts.set(address, (counts.get(address) ?? 0) + 1);
  const neighbours = ({ address }: Connection) => counts.get(address) ?? 0;
  const hasNoRight = ({ socket }: Connection) => !trusted.has(socket);
  const hasManyNeighbours = (connection: Connection) => neighbours(connection) > FAIR_SHARE;
  const neverAsked = ({ last, exchange }: Connection) => last === undefined && !exchange?.[0].complete;

  const expendable = [hasManyNeighbours, hasNoRight].reduce(preferring, all);
  const arriving = new Set(all.filter(neverAsked).slice(-ARRIVING));
  const hasArrived = (connection: Connection) => !arriving.has(connection);
  const candidates = [hasArrived, neverAsked].reduce(preferring, expendable);
  const most = Math.max(...candidates.map(neighbours));
  return candidates.find(connection => neighbours(connection) === most);
}

/** The connections that fit. If none fits, all of them. */
function preferring(all: readonly Connection[], fits: (connection: Connection) => boolean) {
  const fitting = all.filter(fits);
  return fitting.length > 0 ? fitting : all;
}

const CLIENT_ERRORS: Readonly<Record<string, ErrorCode>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'request-timeout',
  HPE_HEADER_OVERFLOW: 'headers-too-large',
};

/**
 * Node's parser rejected the bytes, so there is no response object. This writes the answer to the socket and closes
 * the connection, because the rest of a request that was refused for slowness must not be obeyed.
 */
function refuse(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const code = CLIENT_ERRORS[error.code ?? ''] ?? 'bad-http';
  const { problem } = problemOf(new RobotError(code));
  const body = JSON.stringify(problem);
  const headers = [
    ['Connection', 'close'],
    ['Content-Type', PROBLEM_TYPE],
    ['Content-Length', Buffer.byteLength(body)],
    ...Object.entries(SECURITY_HEADERS),
  ];
  const head = headers.map(([name, value]) => `${name}: ${value}\r\n`);
  const statusLine = `HTTP/1.1 ${problem.status} ${problem.title}\r\n`;
  socket.end(`${statusLine}${head.join('')}\r\n${body}`, () => socket.destroy());
}
