import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { hashOf } from '../../src/access/token.js';
import { writeTokens } from '../../src/access/token-file.js';
import { realDisk } from '../../src/storage/disk.js';
import type { Daemons } from './bundled-daemon.js';
import { Connection, request, SECRET } from './connection.js';
import { gainsBody } from './gains-body.js';
import { load } from './load.js';
import { type Program, Server } from './server.js';
import { median, percentile } from './statistics.js';

/** The figures of one run, by name with unit. */
export type Figures = Readonly<Record<string, number>>;

interface Plan {
  readonly starts: number;
  /** The number of measurements of each act. */
  readonly acts: number;
  /** V8 compiles for half a minute after a start. Only then is the idle daemon measured. */
  readonly warmMs: number;
  readonly idleMs: number;
  readonly rateMs: number;
}

export const FULL: Plan = { starts: 5, acts: 100, warmMs: 30_000, idleMs: 15_000, rateMs: 3000 };
export const QUICK: Plan = { starts: 1, acts: 5, warmMs: 200, idleMs: 500, rateMs: 200 };

const BUS_HZ = '400000';
/** Pause between mode switches. A switch that comes sooner has to wait until the one before has taken effect. */
const SPACED_MS = 100;

interface Act {
  /** This request is sent before each measured one, and is not measured. */
  prepare?(turn: number): Buffer;
  readonly pauseMs: number;
  request(turn: number): Buffer;
}

const modes = ['auto', 'manual'].map(mode => request('POST', '/api/gimbal/mode/switch', { mode }));
const modeOf = (turn: number) => modes[turn % 2] ?? Buffer.alloc(0);
const SWITCH: Act = { pauseMs: SPACED_MS, request: modeOf };
/** Before each measured switch, repeats the mode that is in force. */
const SWITCH_AFTER_REPEAT: Act = { prepare: turn => modeOf(turn + 1), pauseMs: 0, request: modeOf };

const ACTS: Readonly<Record<string, Act>> = {
  stop: {
    prepare: () => request('POST', '/api/resume'),
    pauseMs: 0,
    request: () => request('POST', '/api/stop'),
  },
  'laser off': {
    prepare: () => request('POST', '/api/laser', { action: 'on' }),
    pauseMs: 0,
    request: () => request('POST', '/api/laser', { action: 'off' }),
  },
  'mode switch': SWITCH,
  save: {
    pauseMs: 0,
    request: turn => request('POST', '/api/gimbal/pidconfig', gainsBody('gimbal', turn)),
  },
};

const READ = request('GET', '/api/gimbal/pidconfig');
const MIXED = [
  READ,
  request('GET', '/api/status'),
  request('GET', '/healthz'),
  request('GET', '/api/nothing'),
];

/** Measures everything once. `folder` gets the daemons' state folders and logs. */
export async function measure(daemons: Daemons, folder: string, plan: Plan): Promise<Figures> {
  const program = await programOf('daemon', daemons.inMemory, folder);
  const simulator = await programOf('simulator', daemons.simulated, folder);
  const startsMs: number[] = [];
  for (let count = 0; count < plan.starts; count += 1) startsMs.push(await startMs(program, folder));
  return {
    'start to first answer, ms': median(startsMs),
    ...(await latencies(program, folder, plan)),
    ...(await costs(program, folder, plan)),
    ...(await onTheSimulator(simulator, folder, plan)),
  };
}

async function programOf(name: string, node: readonly string[], folder: string): Promise<Program> {
  const state = join(folder, name);
  mkdirSync(state, { recursive: true });
  await writeTokens(realDisk, state, [{ name: 'bench', role: 'operator', hash: hashOf(SECRET) }]);
  return { name, args: port => [...node, '--port', String(port), '--state', state] };
}

async function startMs(program: Program, folder: string): Promise<number> {
  const beganMs = performance.now();
  const server = await Server.start(program, folder);
  const tookMs = performance.now() - beganMs;
  await server.stop();
  return tookMs;
}

/** Measures how long acts take, alone and beside 16 saturating connections. The bus has the wire time of a real one. */
async function latencies(program: Program, folder: string, { acts }: Plan): Promise<Figures> {
  const server = await Server.start(program, folder, { BENCH_BUS_HZ: BUS_HZ });
  const connection = await Connection.open(server.port);
  const figures: Record<string, number> = {};
  try {
    for (const isBusy of [false, true]) {
      const end = isBusy ? await load(server.port, MIXED) : undefined;
      for (const [name, act] of Object.entries(ACTS)) {
        const where = isBusy ? `${name} beside 16 connections` : name;
        Object.assign(figures, timesOf(where, await answersMs(connection, act, acts)));
        await connection.send(request('POST', '/api/resume'));
      }
      await end?.();
    }
  } finally {
    connection.close();
    await server.stop();
  }
  return figures;
}

function timesOf(name: string, tookMs: readonly number[]): Figures {
  return { [`${name}, median ms`]: median(tookMs), [`${name}, p99 ms`]: percentile(tookMs, 0.99) };
}

async function answersMs(connection: Connection, act: Act, count: number): Promise<number[]> {
  const tookMs: number[] = [];
  for (let turn = 0; turn < count; turn += 1) {
    if (act.prepare !== undefined) await connection.send(act.prepare(turn));
    await delay(act.pauseMs + 10 * Math.random());
    const beganMs = performance.now();
    const { status, text } = await connection.send(act.request(turn));
    tookMs.push(performance.now() - beganMs);
    // A busy robot may refuse a request after a second. The figure then is one second.
    if (status !== 200 && status !== 503) throw new Error(`${status} ${text}`);
  }
  return tookMs;
}

/** Measures processor time and memory without any request, and the GETs per second at saturation. */
async function costs(program: Program, folder: string, { warmMs, idleMs, rateMs }: Plan): Promise<Figures> {
  const server = await Server.start(program, folder);
  try {
    const idle = await idlePercent(server, warmMs, idleMs);
    const idleMiB = server.rssMiB;
    const end = await load(server.port, [READ]);
    await delay(rateMs);
    const perSecond = await end();
    return {
      'idle, % of a core': idle,
      'memory idle, MiB': idleMiB,
      'memory after the GETs, MiB': server.rssMiB,
      'time of a GET by 16 connections, us': 1e6 / perSecond,
    };
  } finally {
    await server.stop();
  }
}

async function idlePercent(server: Server, warmMs: number, idleMs: number): Promise<number> {
  await delay(warmMs);
  const [beganMs, beforeMs] = [performance.now(), server.processorMs];
  await delay(idleMs);
  return (100 * (server.processorMs - beforeMs)) / (performance.now() - beganMs);
}

/** Measures mode switches on the simulated firmware, in which a mode takes effect later than its frame. */
async function onTheSimulator(program: Program, folder: string, plan: Plan): Promise<Figures> {
  const server = await Server.start(program, folder);
  try {
    const idle = await idlePercent(server, plan.warmMs, plan.idleMs);
    const connection = await Connection.open(server.port);
    const figures = {
      'idle on the simulator, % of a core': idle,
      ...timesOf('mode switch on the simulator', await answersMs(connection, SWITCH, plan.acts)),
      ...timesOf(
        'mode switch on the simulator within 10 ms of a repeated one',
        await answersMs(connection, SWITCH_AFTER_REPEAT, plan.acts),
      ),
    };
    connection.close();
    return figures;
  } finally {
    await server.stop();
  }
}
