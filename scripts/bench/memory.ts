import { request } from './connection.js';
import type { Figure } from './figure.js';
import { saturate } from './load.js';
import type { Bench } from './plan.js';
import { type Program, Server } from './server.js';

const PARTS = 10;

/** Memory after many requests, against the bare server after the same. */
export async function memoryAfter({ plan, programs, folder }: Bench): Promise<Figure[]> {
  const run = async (program: Program) => {
    const server = await Server.start(program, folder);
    const requests = [
      request('GET', '/api/gimbal/pidconfig'),
      request('POST', '/api/laser', { action: 'on' }),
      request('POST', '/api/laser', { action: 'off' }),
    ];
    const rss: number[] = [];
    try {
      for (let part = 0; part < PARTS; part += 1) {
        await (await saturate(server.port, 16, requests, plan.requests / PARTS)).stop();
        rss.push(server.rssMiB);
      }
    } finally {
      await server.stop();
    }
    return rss;
  };
  const daemon = await run(programs.daemon);
  const bare = await run(programs.bare);
  const last = (values: readonly number[]) => values.slice(-3);
  const half = daemon[PARTS / 2 - 1] ?? Number.NaN;
  return [
    {
      name: `RSS after ${plan.requests} requests`,
      unit: 'MiB',
      values: last(daemon),
      yardstick: { name: 'bare', values: last(bare) },
      wanted: '1.6, stretch 1.3',
    },
    {
      name: 'RSS at the end against half-way',
      unit: 'MiB',
      values: daemon.slice(-1),
      yardstick: { name: 'half-way', values: [half] },
      wanted: 'flat',
    },
  ];
}
