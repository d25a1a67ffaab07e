import { Connection } from './connection.js';
import type { Server } from './server.js';

const CONNECTIONS = 16;

export interface Load {
  readonly requests: number;
  readonly perSecond: number;
  /** How many answers had each status. */
  readonly statuses: ReadonlyMap<number, number>;
}

/** Requests that are running until `stop`. */
export interface Running {
  stop(): Promise<Load>;
}

/** So many connections, each sending its next request when the last one is answered, the requests in turn. */
export async function saturate(
  port: number,
  connections: number,
  requests: readonly Buffer[],
  limit = Number.POSITIVE_INFINITY,
): Promise<Running> {
  const all = await Promise.all(Array.from({ length: connections }, () => Connection.open(port)));
  const statuses = new Map<number, number>();
  const startMs = performance.now();
  let stopped = false;
  let count = 0;
  const loops = all.map(async (connection, index) => {
    for (let turn = index; !stopped && count < limit; turn += 1) {
      const bytes = requests[turn % requests.length];
      if (bytes === undefined) throw new Error('nothing to request');
      count += 1;
      const { status } = await connection.send(bytes);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    connection.close();
  });
  const done = Promise.all(loops);
  // Seen by who stops; until then it is nobody's.
  done.catch(() => undefined);
  return {
    stop: async () => {
      stopped = limit === Number.POSITIVE_INFINITY;
      await done;
      const perSecond = (1000 * count) / (performance.now() - startMs);
      return { requests: count, perSecond, statuses };
    },
  };
}

export interface Rate {
  readonly perSecond: number;
  /** By the server's time on a processor: what other work on the machine does not change. */
  readonly perProcessorSecond: number;
}

/** A load of a given length that must be answered by nothing but 200. */
export async function rateOf(server: Server, bytes: Buffer, durationMs: number): Promise<Rate> {
  const beforeMs = server.processorMs;
  const running = await saturate(server.port, CONNECTIONS, [bytes]);
  await delay(durationMs);
  const { requests, perSecond, statuses } = await running.stop();
  for (const [status, count] of statuses) {
    if (status !== 200) throw new Error(`${count} answers of ${status} under load`);
  }
  return { perSecond, perProcessorSecond: (1000 * requests) / (server.processorMs - beforeMs) };
}

export function delay(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms));
}
