import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Connection, openStream, request } from './connection.js';
import type { Figure } from './figure.js';
import { delay } from './load.js';
import type { Bench } from './plan.js';
import { Server } from './server.js';

const HOUR_MS = 3_600_000;
/** What the page asks when it is opened, before it follows the stream. */
const PAGE = ['/', '/api/status', '/api/gimbal/pidconfig', '/api/chassis/pidconfig'];

/** Share of a core, memory, processes and bytes to the disk, with nobody there and with a page open. */
export async function idleCosts({ plan, programs, folder }: Bench): Promise<Figure[]> {
  const server = await Server.start(programs.daemon, folder);
  try {
    await delay(plan.warmMs);
    const idle = await shareOfCore(server, plan.idleMs);
    const rss = server.rssMiB;
    const stream = await openPage(server.port);
    // What only a page makes run is compiled then, too.
    await delay(plan.warmMs);
    const withPage = await shareOfCore(server, plan.idleMs);
    const bytes = await bytesPerHour(server, join(folder, 'state'), plan.diskMs);
    stream.destroy();
    const children = await childrenSeen(server.pid, plan.idleMs / 5);
    return [
      { name: 'idle, both units at 50 Hz', unit: '% of a core', values: idle, wanted: '2, stretch 1' },
      {
        name: 'one open page on top',
        unit: '% of a core',
        values: withPage.map((share, round) => Math.max(0, share - (idle[round] ?? 0))),
        wanted: '1, stretch 0.5',
      },
      { name: 'processes started while it runs', unit: '', values: [children], wanted: '0' },
      { name: 'RSS idle', unit: 'MiB', values: [rss] },
      {
        name: 'written to log and disk in an hour, a page open and 10 GET a second',
        unit: 'KiB',
        values: [bytes / 1024],
        wanted: '64',
      },
    ];
  } finally {
    await server.stop();
  }
}

async function openPage(port: number) {
  const connection = await Connection.open(port);
  for (const path of PAGE) await connection.send(request('GET', path));
  connection.close();
  return openStream(port);
}

/** In percent, in three pieces of `forMs` together. */
async function shareOfCore(server: Server, forMs: number): Promise<number[]> {
  const shares: number[] = [];
  for (let piece = 0; piece < 3; piece += 1) {
    const beforeMs = server.processorMs;
    const startMs = performance.now();
    await delay(forMs / 3);
    shares.push((100 * (server.processorMs - beforeMs)) / (performance.now() - startMs));
  }
  return shares;
}

async function bytesPerHour(server: Server, state: string, forMs: number): Promise<number> {
  const connection = await Connection.open(server.port);
  const written = () => server.logBytes + sizeOf(state);
  const before = written();
  const requests = forMs / 100;
  for (let sent = 0; sent < requests; sent += 1) {
    await connection.send(request('GET', '/api/gimbal/pidconfig'));
    await delay(100);
  }
  connection.close();
  // The log is written in the background.
  await delay(100);
  return ((written() - before) * HOUR_MS) / forMs;
}

function sizeOf(folder: string): number {
  const files = readdirSync(folder, { withFileTypes: true }).filter(entry => entry.isFile());
  return files.reduce((sum, { name }) => sum + statSync(join(folder, name)).size, 0);
}

/** Looks often: a program that is started and ends takes some milliseconds at least. */
async function childrenSeen(pid: number, forMs: number): Promise<number> {
  const seen = new Set<string>();
  const untilMs = performance.now() + forMs;
  while (performance.now() < untilMs) {
    for (const child of readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')) {
      if (child.trim() !== '') seen.add(child);
    }
    await delay(1);
  }
  return seen.size;
}
