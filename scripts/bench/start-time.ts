import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Figure } from './figure.js';
import type { Bench } from './plan.js';
import { environment, type Program, Server } from './server.js';

/** How long a program takes from its start to its first answer. */
export async function startTimes(bench: Bench): Promise<Figure[]> {
  const { plan, programs, folder } = bench;
  const daemon: Start[] = [];
  const koa: Start[] = [];
  const node: number[] = [];
  for (let round = 0; round < plan.starts; round += 1) {
    daemon.push(await startOf(programs.daemon, folder));
    koa.push(await startOf(programs.koa, folder));
    node.push(timeOf(() => execFileSync(process.execPath, ['-e', '0'], { env: environment() })));
  }
  const compared = (what: string, of: (start: Start) => number): Figure => ({
    name: `start to first answer${what}`,
    unit: 'ms',
    values: daemon.map(of),
    yardstick: { name: 'koa', values: koa.map(of) },
    wanted: '0.8, stretch 0.5',
  });
  return [
    compared('', ({ tookMs }) => tookMs),
    compared(' by processor time', ({ processorMs }) => processorMs),
    {
      name: 'start to first answer, against an empty program',
      unit: 'ms',
      values: daemon.map(({ tookMs }) => tookMs),
      yardstick: { name: 'node -e 0', values: node },
    },
    ...(plan.npmStart ? [await npmStart(bench)] : []),
  ];
}

interface Start {
  readonly tookMs: number;
  /** The time of all threads on a processor. */
  readonly processorMs: number;
}

async function startOf(program: Program, folder: string): Promise<Start> {
  const startMs = performance.now();
  const server = await Server.start(program, folder);
  const tookMs = performance.now() - startMs;
  const { processorMs } = server;
  await server.stop();
  return { tookMs, processorMs };
}

/** How long `npm start` takes in a built checkout until the URL is on the terminal. */
async function npmStart({ folder }: Bench): Promise<Figure> {
  const values: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    const startMs = performance.now();
    const child = spawn('npm', ['start', '--', '--port', '0', '--state', join(folder, 'npm-start')], {
      stdio: ['ignore', 'pipe', 'ignore'],
      env: environment(),
      // npm and its shell pass a signal on to nobody: the whole group is ended.
      detached: true,
    });
    const exited = once(child, 'exit');
    for await (const line of createInterface({ input: child.stdout })) {
      if (line.includes('http://')) break;
    }
    values.push(performance.now() - startMs);
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
    await exited;
  }
  return { name: 'npm start to the URL', unit: 'ms', values, wanted: '2000, stretch 1000' };
}

function timeOf(act: () => void): number {
  const startMs = performance.now();
  act();
  return performance.now() - startMs;
}
