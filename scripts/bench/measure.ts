import { setTimeout as delay } from 'node:timers/promises';
import { Connection, NO_SECRET, openStream, REFEREE, request } from './connection.js';
import { gainsBody } from './gains-body.js';
import { load } from './load.js';
import type { Server } from './server.js';
import { median, percentile } from './statistics.js';

/** Figures by name with unit. */
export type Figures = Readonly<Record<string, number>>;

interface Plan {
  /** V8 compiles for a while after a start. */
  readonly warmMs: number;
  readonly idleMs: number;
  readonly rateMs: number;
  /** The number of measurements of each act and of the poll. */
  readonly acts: number;
}

export const FULL: Plan = { warmMs: 20_000, idleMs: 15_000, rateMs: 3000, acts: 50 };
export const QUICK: Plan = { warmMs: 200, idleMs: 500, rateMs: 500, acts: 5 };

const GET = request('GET', '/api/gimbal/pidconfig');
const POST = request('POST', '/api/laser', { action: 'off' });
/** What 16 clients read: gains, status, health, and a path without a route. */
const READS = [GET, ...['/api/status', '/healthz', '/api/nothing'].map(path => request('GET', path))];
const CONNECTIONS = 16;
const STREAMS = 8;
/** All connections that the daemon accepts but a few, from four addresses, each of which has at most 64. */
const STRANGERS = { connections: 240, addresses: 4 };
const BESIDE = `${CONNECTIONS} connections and ${STREAMS} streams`;

interface MeasuredAct {
  /** This request is sent before each measured one, and is not measured. */
  prepare?(turn: number): Buffer;
  request(turn: number): Buffer;
}

const modes = ['auto', 'manual'].map(mode => request('POST', '/api/gimbal/mode/switch', { mode }));
const ACTS: Readonly<Record<string, MeasuredAct>> = {
  save: { request: turn => request('POST', '/api/gimbal/pidconfig', gainsBody('gimbal', turn)) },
  'mode switch': { request: turn => modes[turn % 2] ?? Buffer.alloc(0) },
  stop: { prepare: () => request('POST', '/api/resume'), request: () => request('POST', '/api/stop') },
  'laser off': {
    prepare: () => request('POST', '/api/laser', { action: 'on' }),
    request: () => POST,
  },
};

/** A pause between acts. A mode switch that comes sooner has to wait until the one before has taken effect. */
const SPACED_MS = 50;

export async function warm(server: Server, folder: string, { warmMs }: Plan): Promise<void> {
  for (const bytes of [GET, POST]) {
    const end = load(folder, { port: server.port, requests: [bytes], connections: CONNECTIONS });
    await delay(Math.max(500, warmMs / 4));
    await end();
  }
  await delay(warmMs / 2);
}

/** Processor time without any request, in parts of a core. */
export async function idleShare(server: Server, { idleMs }: Plan): Promise<number> {
  const [beganMs, beforeMs] = [performance.now(), server.processorMs];
  await delay(idleMs);
  return (server.processorMs - beforeMs) / (performance.now() - beganMs);
}

/** The answers per second and the processor time of an answer, beyond the time that the idle server takes. */
export async function rates(server: Server, folder: string, idle: number, plan: Plan): Promise<Figures> {
  const figures: Record<string, number> = {};
  for (const [name, bytes] of Object.entries({ GET, 'POST (laser off)': POST })) {
    const end = load(folder, { port: server.port, requests: [bytes], connections: CONNECTIONS });
    // The client opens its connections.
    await delay(plan.rateMs / 5);
    const [beganMs, beforeMs] = [performance.now(), server.processorMs];
    await delay(plan.rateMs);
    const [tookMs, usedMs] = [performance.now() - beganMs, server.processorMs - beforeMs];
    const perSecond = await end();
    figures[`${name}, answers/s`] = perSecond;
    figures[`${name}, processor time, us`] = (1e6 * (usedMs / tookMs - idle)) / perSecond;
  }
  return figures;
}

/** How long acts take alone and beside a load. */
export async function acts(server: Server, folder: string, { acts: count }: Plan): Promise<Figures> {
  const connection = await Connection.open(server.port);
  const alone = await medians(connection, count);
  const streams = await Promise.all(Array.from({ length: STREAMS }, () => openStream(server.port)));
  const end = load(folder, { port: server.port, requests: READS, connections: CONNECTIONS });
  const beside = await medians(connection, count);
  await end();
  for (const stream of streams) stream.destroy();
  connection.close();
  return Object.fromEntries(
    Object.keys(ACTS).flatMap(name => [
      [`${name}, ms`, alone[name] ?? Number.NaN],
      [`${name} beside ${BESIDE}, times as long`, (beside[name] ?? Number.NaN) / (alone[name] ?? Number.NaN)],
    ]),
  );
}

async function medians(connection: Connection, count: number): Promise<Figures> {
  const figures: Record<string, number> = {};
  for (const [name, act] of Object.entries(ACTS)) {
    const tookMs: number[] = [];
    for (let turn = 0; turn < count; turn += 1) {
      if (act.prepare !== undefined) await connection.send(act.prepare(turn));
      tookMs.push(await answerMs(connection, act.request(turn)));
    }
    await connection.send(request('POST', '/api/resume'));
    figures[name] = median(tookMs);
  }
  return figures;
}

async function answerMs(connection: Connection, bytes: Buffer): Promise<number> {
  await delay(SPACED_MS + 10 * Math.random());
  const beganMs = performance.now();
  const { status, text } = await connection.send(bytes);
  // A busy robot may refuse a request after a second. The figure then is one second.
  if (status !== 200 && status !== 503) throw new Error(`${status} ${text}`);
  return performance.now() - beganMs;
}

/** How long the referee's poll takes beside callers without a token. */
export async function polls(server: Server, folder: string, { acts: count }: Plan): Promise<Figures> {
  const referee = await Connection.open(server.port);
  const poll = request('GET', '/api/status', undefined, REFEREE);
  const figures: Record<string, number> = {};
  // The first answer shows that the referee has rights, which keep the connection when others come.
  await referee.send(poll);
  const ofStrangers = {
    GET: request('GET', '/api/status', undefined, NO_SECRET),
    POST: request('POST', '/api/gimbal/mode/switch', { mode: 'auto' }, NO_SECRET),
    'POST (laser off)': request('POST', '/api/laser', { action: 'off' }, NO_SECRET),
  };
  for (const [name, bytes] of Object.entries(ofStrangers)) {
    const end = load(folder, { port: server.port, requests: [bytes], ...STRANGERS });
    await delay(1000);
    const tookMs: number[] = [];
    for (let turn = 0; turn < count; turn += 1) tookMs.push(await answerMs(referee, poll));
    await end();
    const beside = `poll of the referee beside ${name} of ${STRANGERS.connections} strangers`;
    figures[`${beside}, ms`] = median(tookMs);
    figures[`${beside}, 95th percentile, ms`] = percentile(tookMs, 0.95);
  }
  referee.close();
  return figures;
}
