import { frameBytes, REGISTERS } from '../../src/protocol/registers.js';
import { Connection, openStream, request } from './connection.js';
import type { Figure } from './figure.js';
import { gainsBody } from './gains-body.js';
import { delay, saturate } from './load.js';
import type { Bench } from './plan.js';
import { Server } from './server.js';
import { percentile } from './statistics.js';
import { bitsOnTheWire, WireTime } from './wire-time.js';

const BUS_HZ = 400_000;
/** What callers ask of a busy robot, reads and acts and refusals. */
const MIXED = [
  request('GET', '/api/gimbal/pidconfig'),
  request('GET', '/api/status'),
  request('GET', '/api/chassis/pidconfig'),
  request('GET', '/api/gimbal/pidconfig/history?limit=20'),
  request('POST', '/api/chassis/mode/switch', { mode: 'manual' }),
  request('POST', '/api/laser', { action: 'brighter' }),
  request('GET', '/api/gimbal/excitation'),
  request('GET', '/healthz'),
  request('GET', '/api/nothing'),
];
const STREAMS = 8;
const SAVE_EVERY_MS = 100;
/** A switch sooner after another waits until it cannot be mistaken for that one. */
const SETTLED_MS = 100;

/** How long acts take, alone and beside others, on a bus with its wire time. */
export async function latencies({ plan, programs, folder }: Bench): Promise<Figure[]> {
  const server = await Server.start(programs.daemon, folder, { BENCH_BUS_HZ: String(BUS_HZ) });
  const connection = await Connection.open(server.port);
  const rounds = Math.min(plan.rounds, 5);
  const p99s = async (measure: () => Promise<number[]>) => percentile(await measure(), 0.99);
  const off = { idle: [] as number[], busy: [] as number[] };
  const save = { idle: [] as number[], busy: [] as number[] };
  const modeSwitches = { spaced: [] as number[], close: [] as number[], bare: [] as number[] };
  const wire = new WireTime(BUS_HZ);
  try {
    const laser = () => laserOffMs(server, connection, plan.latencies);
    const saves = () =>
      answerMs(plan.latencies, turn =>
        connection.send(request('POST', '/api/gimbal/pidconfig', gainsBody('gimbal', turn))),
      );
    for (let round = 0; round < rounds; round += 1) {
      off.idle.push(await p99s(laser));
      const end = await floodFully(server.port);
      off.busy.push(await p99s(laser));
      await end();
      save.idle.push(await p99s(saves));
      const flood = await saturate(server.port, 16, MIXED);
      save.busy.push(await p99s(saves));
      await flood.stop();
      const stream = await openStream(server.port);
      const modes = ['auto', 'manual'].map(mode => request('POST', '/api/gimbal/mode/switch', { mode }));
      const switches = (afterMs: number) =>
        answerMs(plan.latencies / 2, turn => connection.send(modes[turn % 2] ?? Buffer.alloc(0)), afterMs);
      modeSwitches.spaced.push((await p99s(() => switches(SETTLED_MS))) - modeSwitchWireMs());
      modeSwitches.close.push((await p99s(() => switches(0))) - modeSwitchWireMs());
      modeSwitches.bare.push((await p99s(() => bareFramesMs(wire, plan.latencies / 2))) - modeSwitchWireMs());
      stream.destroy();
    }
  } finally {
    connection.close();
    wire.end();
    await server.stop();
  }
  return [
    {
      name: 'laser off to dark pin, p99, beside 16 connections, 8 streams and saves',
      unit: 'ms',
      values: off.busy,
      yardstick: { name: 'alone', values: off.idle },
      wanted: '25 and 3, stretch 10 and 2',
    },
    {
      name: 'mode switch, p99, over its wire time',
      unit: 'ms',
      values: modeSwitches.spaced,
      yardstick: { name: 'its two frames alone, over their time', values: modeSwitches.bare },
      wanted: '5, stretch 3',
    },
    { name: 'the same in the wake of another switch', unit: 'ms', values: modeSwitches.close },
    {
      name: 'save, p99, beside 16 connections',
      unit: 'ms',
      values: save.busy,
      yardstick: { name: 'alone', values: save.idle },
      wanted: '8, stretch 4',
    },
  ];
}

/** How long it takes from the request's leaving to the write of the pin, by the monotonic clock that all processes share. */
async function laserOffMs(server: Server, connection: Connection, count: number): Promise<number[]> {
  const on = request('POST', '/api/laser', { action: 'on' });
  const off = request('POST', '/api/laser', { action: 'off' });
  await server.ask('GET', '/bench/dark');
  const sentNs: bigint[] = [];
  for (let turn = 0; turn < count; turn += 1) {
    await connection.send(on);
    await delay(Math.random() * 10);
    sentNs.push(process.hrtime.bigint());
    await connection.send(off);
  }
  const darkNs = await server.ask('GET', '/bench/dark');
  if (!Array.isArray(darkNs) || darkNs.length !== count) throw new Error('the pin did not go dark each time');
  return sentNs.map((sent, turn) => Number(BigInt(String(darkNs[turn])) - sent) / 1e6);
}

async function answerMs(
  count: number,
  act: (turn: number) => Promise<{ status: number; text: string }>,
  afterMs = 0,
): Promise<number[]> {
  const took: number[] = [];
  for (let turn = 0; turn < count; turn += 1) {
    await delay(afterMs + Math.random() * 10);
    const startMs = performance.now();
    const { status, text } = await act(turn);
    took.push(performance.now() - startMs);
    // A busy robot may refuse within a second; a refusal is no shorter wait.
    if (status !== 200 && status !== 503) throw new Error(`${status} ${text}`);
  }
  return took;
}

/** 16 saturating connections, 8 streams and a save every 100 ms, until the function that it gives is called. */
async function floodFully(port: number): Promise<() => Promise<void>> {
  const streams = await Promise.all(Array.from({ length: STREAMS }, () => openStream(port)));
  const saver = await Connection.open(port);
  let ended = false;
  const saving = (async () => {
    for (let turn = 0; !ended; turn += 1) {
      await saver.send(request('POST', '/api/chassis/pidconfig', gainsBody('chassis', turn)));
      await delay(SAVE_EVERY_MS);
    }
  })();
  const flood = await saturate(port, 16, MIXED);
  return async () => {
    ended = true;
    await Promise.all([flood.stop(), saving]);
    saver.close();
    for (const stream of streams) stream.destroy();
  };
}

/** The mode is written, and the status read once to see it. */
const MODE_SWITCH_BITS = [
  bitsOnTheWire('write', frameBytes(REGISTERS.mode)),
  bitsOnTheWire('read', frameBytes(REGISTERS.status)),
];

function modeSwitchWireMs(): number {
  return MODE_SWITCH_BITS.reduce((ms, bits) => ms + (1000 * bits) / BUS_HZ, 0);
}

/** What this machine's threads make of the same wire in a program that does nothing else. */
async function bareFramesMs(wire: WireTime, count: number): Promise<number[]> {
  const took: number[] = [];
  for (let turn = 0; turn < count; turn += 1) {
    await delay(Math.random() * 10);
    const startMs = performance.now();
    for (const bits of MODE_SWITCH_BITS) await wire.take(bits);
    took.push(performance.now() - startMs);
  }
  return took;
}
