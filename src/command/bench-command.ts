import { readdirSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { type Board, boardOf } from '../access/board.js';
import { UNIT_LIST } from '../core/units.js';
import { urlOf } from '../daemon/port.js';
import { isStatus, type Status } from '../schemas/status.js';
import { columns } from './arguments.js';
import { Failure, type Said } from './command.js';
import { progress } from './output.js';
import { bearer, boardStatus, type Place } from './place.js';

const NOT_AT_REST =
  'not measured: this needs a dark laser, both units in manual, no match, and the right to switch the laser off';

const ANSWER_MS = 2000;

/** A day. */
export const MOST_SECONDS = 86_400;
/** The number of times that the laser is switched off. Each time adds a line to the event log. */
export const LASER_OFFS = 10;

/**
 * `trunnion bench`: measures the running daemon on its own bus. The command reads, and switches the laser off
 * a few times. It does so only while the laser is dark and the robot is not in use.
 */
export async function benchCommand(place: Place, seconds: number, token: string | undefined): Promise<Said> {
  const before = await look(place);
  for (let leftS = seconds; leftS > 0; leftS -= 1) {
    progress(`measuring for another ${Math.ceil(leftS)} s`);
    await delay(Math.min(1, leftS) * 1000);
  }
  progress('');
  const after = await look(place);
  const { status, board } = after;
  if (board.pid !== before.board.pid) throw new Failure('The daemon was restarted meanwhile: measure again.');
  const passedMs = after.atMs - before.atMs;
  const busMs = board.busMs - before.board.busMs;
  const transactions = status.bus.transactions - before.status.bus.transactions;
  const offsMs = isAtRest(status) ? await laserOffMs(board, token) : [];
  const figures: readonly (readonly [string, number | undefined])[] = [
    ['idle, % of a core', (100 * (after.processorMs - before.processorMs)) / passedMs],
    ['memory, MiB', memoryMiB(board.pid)],
    ['start to the open port, ms', board.startMs],
    ['start, processor time, ms', board.startCpuMs],
    ['laser off, median ms', offsMs[Math.floor(offsMs.length / 2)]],
    ['laser off, longest ms', offsMs.at(-1)],
    ['poll of both units on the bus, ms', busMs / ((passedMs / 1000) * board.pollHz)],
    ['transaction on the bus, ms', busMs / Math.max(1, transactions)],
    ['bus taken, %', (100 * busMs) / passedMs],
  ];
  const rows = figures.map(([name, value]) => [name, value === undefined ? null : round(value)] as const);
  const use = UNIT_LIST.map(({ name }) => `${name} ${status[name].mode ?? 'offline'}`).join(', ');
  const text = columns([
    ['robot', `${status.simulated ? 'SIMULATED' : 'real'}, version ${status.version}, ${use}`],
    ['board', `${cpus().length} x ${cpus()[0]?.model}, Node ${process.version}`],
    ...rows.map(([name, value]) => [name, value === null ? NOT_AT_REST : String(value)] as const),
  ]);
  return { text, exitCode: 0, json: { simulated: status.simulated, ...Object.fromEntries(rows) } };
}

async function look(place: Place) {
  const { body: status } = await boardStatus(place, 'bench');
  const board = boardOf(status);
  if (!isStatus(status) || board === undefined) throw new Failure('An older daemon runs: restart it.');
  return { status, board, atMs: performance.now(), processorMs: processorMs(board.pid) };
}

function isAtRest({ laser, match, ...units }: Status): boolean {
  const isResting = UNIT_LIST.every(({ name }) => [null, 'manual'].includes(units[name].mode));
  return laser.light === 'dark' && match.phase === 'none' && isResting;
}

/** The times that laser off took, in ascending order. Empty if the daemon refuses. */
async function laserOffMs({ host, port }: Board, token: string | undefined): Promise<number[]> {
  const url = `${urlOf({ address: host, port })}/api/laser`;
  const headers = { 'content-type': 'application/json', ...bearer(token) };
  const tookMs: number[] = [];
  for (let count = 0; count < LASER_OFFS; count += 1) {
    const beganMs = performance.now();
    const signal = AbortSignal.timeout(ANSWER_MS);
    const asked = fetch(url, { method: 'POST', headers, body: '{"action":"off"}', signal });
    const answer = await asked.catch(() => undefined);
    if (answer?.ok !== true) return [];
    tookMs.push(performance.now() - beganMs);
  }
  return tookMs.sort((a, b) => a - b);
}

function round(value: number): number {
  return Number(value.toPrecision(3));
}

/** Processor time of all threads. /proc/PID/stat has a resolution of only 10 ms. */
export function processorMs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const ns = threads.map(thread =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]),
  );
  return ns.reduce((sum, one) => sum + one, 0) / 1e6;
}

export function memoryMiB(pid: number): number {
  const [, kiB = ''] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kiB) / 1024;
}
