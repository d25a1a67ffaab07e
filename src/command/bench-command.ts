import { readdirSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { type Board, boardOf } from '../access/board.js';
import { BREAK_GLASS_LOOK } from '../access/break-glass.js';
import { askBreakGlass } from '../access/break-glass-client.js';
import type { Said } from '../core/said.js';
import { UNIT_LIST } from '../core/units.js';
import type { Status } from '../schemas/status.js';
import { columns } from './arguments.js';
import type { Place } from './place.js';
import { isStatus, whyNone } from './status-command.js';

/** How often the laser is switched off. Each is a line of the event log. */
export const LASER_OFFS = 10;

interface Look {
  readonly status: Status;
  readonly board: Board;
  readonly atMs: number;
  readonly processorMs: number;
}

/**
 * `trunnion bench`: figures of the daemon that runs, on its own bus. It asks and reads. The laser is switched off only while
 * it is dark and nobody uses the robot.
 */
export async function benchCommand(place: Place, seconds: number, token: string | undefined): Promise<Said> {
  const before = await look(place);
  if (typeof before === 'string') return { text: before, exitCode: 1 };
  await delay(seconds * 1000);
  const after = await look(place);
  if (typeof after === 'string') return { text: after, exitCode: 1 };
  const { status, board } = after;
  const passedMs = after.atMs - before.atMs;
  const busMs = board.busMs - before.board.busMs;
  const transactions = status.bus.transactions - before.status.bus.transactions;
  const offs = isAtRest(status)
    ? await laserOffMs(board, token)
    : 'only while the laser is dark, both units are in manual and no match runs';
  const figures = {
    idlePercentOfCore: round((100 * (after.processorMs - before.processorMs)) / passedMs),
    memoryMiB: round(memoryMiB(board.pid)),
    startMs: round(board.startMs),
    startProcessorMs: round(board.startCpuMs),
    laserOffMedianMs: typeof offs === 'string' ? null : round(offs[Math.floor(offs.length / 2)] ?? 0),
    laserOffWorstMs: typeof offs === 'string' ? null : round(offs.at(-1) ?? 0),
    pollMs: round(busMs / ((passedMs / 1000) * board.pollHz)),
    transactionMs: round(busMs / Math.max(1, transactions)),
    busPercent: round((100 * busMs) / passedMs),
  };
  const laser =
    typeof offs === 'string'
      ? `not measured: ${offs}`
      : `${figures.laserOffMedianMs} ms, at most ${figures.laserOffWorstMs} ms, from the request to the answer`;
  const [{ model } = { model: 'unknown' }] = cpus();
  const use = UNIT_LIST.map(({ name }) => `${name} ${status[name].mode ?? 'offline'}`).join(', ');
  const text = columns([
    ['robot', `${status.simulated ? 'SIMULATED' : 'real'}, version ${status.version}, ${use}`],
    ['board', `${cpus().length} x ${model}, Node ${process.version}`],
    ['idle', `${figures.idlePercentOfCore} % of a core, over ${seconds} s, ${status.streams} streams open`],
    ['memory', `${figures.memoryMiB} MiB`],
    [
      'start',
      `${figures.startMs} ms to the open port, ${figures.startProcessorMs} ms of them on the processor`,
    ],
    ['laser off', laser],
    ['poll', `${figures.pollMs} ms of bus time for both units, ${board.pollHz} times a second`],
    ['bus', `${figures.busPercent} % taken, ${figures.transactionMs} ms a transaction`],
  ]);
  return { text, exitCode: 0, json: { simulated: status.simulated, version: status.version, ...figures } };
}

async function look(place: Place): Promise<Look | string> {
  try {
    const status = await askBreakGlass(place.socket, BREAK_GLASS_LOOK);
    const board = boardOf(status);
    if (!isStatus(status) || board === undefined) return 'An older daemon runs: restart it.';
    return { status, board, atMs: performance.now(), processorMs: processorMs(board.pid) };
  } catch (error) {
    return whyNone(error, place, 'bench');
  }
}

function isAtRest({ laser, match, ...units }: Status): boolean {
  const isResting = UNIT_LIST.every(({ name }) => [null, 'manual'].includes(units[name].mode));
  return laser.light === 'dark' && match.phase === 'none' && isResting;
}

/** Sorted. Resolves with a sentence if the daemon refuses. */
async function laserOffMs({ host, port }: Board, token: string | undefined): Promise<number[] | string> {
  const url = `http://${['0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host}:${port}/api/laser`;
  const headers = {
    'content-type': 'application/json',
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
  const tookMs: number[] = [];
  for (let count = 0; count < LASER_OFFS; count += 1) {
    const beganMs = performance.now();
    const { status } = await fetch(url, { method: 'POST', headers, body: '{"action":"off"}' });
    tookMs.push(performance.now() - beganMs);
    if (status !== 200) return `it was refused with ${status}`;
  }
  return tookMs.sort((a, b) => a - b);
}

/** Processor time of all threads. */
function processorMs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const ns = threads.map(thread =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]),
  );
  return ns.reduce((sum, one) => sum + one, 0) / 1e6;
}

function memoryMiB(pid: number): number {
  const [, kiB = ''] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kiB) / 1024;
}

function round(value: number): number {
  return Number(value.toPrecision(3));
}
