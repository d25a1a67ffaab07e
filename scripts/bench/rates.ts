import { request } from './connection.js';
import type { Figure } from './figure.js';
import { type Rate, rateOf } from './load.js';
import type { Bench } from './plan.js';
import { Server } from './server.js';

const REQUESTS = [
  { name: 'GET gains', bytes: request('GET', '/api/gimbal/pidconfig') },
  { name: 'POST laser', bytes: request('POST', '/api/laser', { action: 'on' }) },
];
const WANTED: Readonly<Record<string, string>> = {
  koa: '0.95, stretch 1.2',
  bare: 'stretch 0.8',
  fastify: 'stretch 0.65',
};

/** Answers a second by 16 connections, against the yardsticks, which take turns with the daemon. */
export async function rates({ plan, programs, folder }: Bench): Promise<Figure[]> {
  const all = [programs.daemon, programs.koa, programs.bare, ...programs.fetched];
  const servers: Server[] = [];
  const figures: Figure[] = [];
  try {
    for (const program of all) servers.push(await Server.start(program, folder));
    for (const { name, bytes } of REQUESTS) {
      const measured = new Map(servers.map(server => [server.name, [] as Rate[]]));
      for (const server of servers) await rateOf(server, bytes, plan.rateMs);
      for (let round = 0; round < plan.rounds; round += 1) {
        for (const server of servers) {
          measured.get(server.name)?.push(await rateOf(server, bytes, plan.rateMs));
        }
      }
      for (const { name: yardstick } of all.slice(1)) {
        const compared = (what: string, rateBy: (rate: Rate) => number): Figure => ({
          name: `${name}${what} against ${yardstick}`,
          unit: '/s',
          values: (measured.get('daemon') ?? []).map(rateBy),
          yardstick: { name: yardstick, values: (measured.get(yardstick) ?? []).map(rateBy) },
          wanted: WANTED[yardstick],
        });
        figures.push(compared('', ({ perSecond }) => perSecond));
        figures.push(compared(' by processor time', ({ perProcessorSecond }) => perProcessorSecond));
      }
    }
  } finally {
    await Promise.all(servers.map(server => server.stop()));
  }
  return figures;
}
