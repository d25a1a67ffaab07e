import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { request } from './connection.js';
import type { Figure } from './figure.js';
import { gainsBody } from './gains-body.js';
import { delay, saturate } from './load.js';
import type { Bench } from './plan.js';
import { Server } from './server.js';

const SAVERS = 32;
/** About as long as a line of the journal. */
const LINE = Buffer.from(`${'x'.repeat(399)}\n`);

/** Saves a second by 32 callers, against a program that does nothing but append a line and sync it. */
export async function concurrentSaves({ plan, programs, folder }: Bench): Promise<Figure[]> {
  const server = await Server.start(programs.daemon, folder);
  const requests = Array.from({ length: 64 }, (_, turn) => {
    const unit = turn % 2 === 0 ? 'gimbal' : 'chassis';
    return request('POST', `/api/${unit}/pidconfig`, gainsBody(unit, turn));
  });
  const saves: number[] = [];
  const syncs: number[] = [];
  let refused = 0;
  try {
    for (let round = 0; round < plan.rounds; round += 1) {
      const running = await saturate(server.port, SAVERS, requests);
      await delay(plan.rateMs);
      const { perSecond, requests: all, statuses } = await running.stop();
      const saved = statuses.get(200) ?? 0;
      refused += all - saved;
      saves.push((perSecond * saved) / all);
      syncs.push(syncedLines(join(folder, 'lines'), plan.rateMs));
    }
  } finally {
    await server.stop();
  }
  return [
    {
      name: '32 concurrent savers',
      unit: '/s',
      values: saves,
      yardstick: { name: 'append and fdatasync', values: syncs },
      wanted: '0.8, stretch one sync for many',
      ...(refused > 0 && { note: `${refused} saves were refused` }),
    },
  ];
}

function syncedLines(path: string, forMs: number): number {
  const fd = openSync(path, 'a');
  const startMs = performance.now();
  let lines = 0;
  try {
    for (; performance.now() - startMs < forMs; lines += 1) {
      writeSync(fd, LINE);
      fdatasyncSync(fd);
    }
  } finally {
    closeSync(fd);
  }
  return (1000 * lines) / (performance.now() - startMs);
}
