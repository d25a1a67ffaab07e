import { setTimeout as delay } from 'node:timers/promises';
import { Connection, openStream, request } from '../bench/connection.js';
import type { Complaints } from './complaints.js';
import type { SoakedRobot } from './soaked-robot.js';

const CALLERS = 8;
const STREAMERS = 4;
/** Growth from the middle to the end that is no leak. */
const ALLOWED_MIB = 12;
const ALLOWED_HANDLES = 8;

const CALLS: readonly Buffer[] = [
  request('GET', '/api/status'),
  request('GET', '/healthz'),
  request('GET', '/api/gimbal/pidconfig'),
  request('GET', '/api/chassis/pidconfig/history?limit=50'),
  request('POST', '/api/laser', { action: 'off' }),
  request('POST', '/api/gimbal/mode/switch', { mode: 'auto' }),
  request('POST', '/api/gimbal/mode/switch', { mode: 'manual' }),
  request('POST', '/api/gimbal/mode/switch', { mode: 'sideways' }),
];

/** So many requests and streams, one after the other for each of a few callers; no answer is missing, and nothing grows. */
export async function answerMany(
  robot: SoakedRobot,
  { requests, streams }: { readonly requests: number; readonly streams: number },
  complaints: Complaints,
): Promise<void> {
  const { port } = robot.server;
  const startMs = performance.now();
  for (const half of ['warm', 'measured'] as const) {
    const before = await robot.insides();
    await Promise.all([
      ...Array.from({ length: CALLERS }, () => callOften(port, requests / 2 / CALLERS, complaints)),
      ...Array.from({ length: STREAMERS }, () => streamOften(port, streams / 2 / STREAMERS)),
    ]);
    // The last streams are closed a moment after their readers have gone.
    await delay(2000);
    const after = await robot.insides();
    const grownMiB = after.rssMiB - before.rssMiB;
    const grownHandles = after.handles - before.handles;
    console.log(`${half} half: grew by ${grownMiB.toFixed(1)} MiB and ${grownHandles} handles`);
    if (half === 'warm') continue;
    if (grownMiB > ALLOWED_MIB) complaints.add('leak', `grew by ${grownMiB.toFixed(1)} MiB`);
    if (grownHandles > ALLOWED_HANDLES) complaints.add('leak', `${grownHandles} handles more`);
  }
  const seconds = ((performance.now() - startMs) / 1000).toFixed(0);
  console.log(`${requests} requests and ${streams} streams in ${seconds} s`);
}

async function callOften(port: number, times: number, complaints: Complaints): Promise<void> {
  const connection = await Connection.open(port);
  for (let turn = 0; turn < times; turn += 1) {
    const bytes = CALLS[turn % CALLS.length] ?? CALLS[0];
    if (bytes === undefined) break;
    const { status, text } = await connection.send(bytes);
    // A busy machine has a busy bus, and the robot says so.
    if (status >= 500 && status !== 503) complaints.add('answer', `${status} ${text}`);
  }
  connection.close();
}

async function streamOften(port: number, times: number): Promise<void> {
  for (let turn = 0; turn < times; ) {
    try {
      (await openStream(port)).destroy();
      turn += 1;
    } catch {
      // There is no room yet: the daemon has not seen the end of the streams before.
      await delay(5);
    }
  }
}
