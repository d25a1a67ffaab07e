import { Connection } from './connection.js';

const CONNECTIONS = 16;

/** Saturates the server with these requests. The returned function ends the load and returns the answers per second. */
export async function load(port: number, requests: readonly Buffer[]): Promise<() => Promise<number>> {
  const all = await Promise.all(Array.from({ length: CONNECTIONS }, () => Connection.open(port)));
  const beganMs = performance.now();
  let isOver = false;
  let count = 0;
  const loops = all.map(async (connection, index) => {
    for (let turn = index; !isOver; turn += 1) {
      await connection.send(requests[turn % requests.length] ?? Buffer.alloc(0));
      count += 1;
    }
    connection.close();
  });
  const done = Promise.all(loops);
  // If a request failed, ending the load throws the failure.
  done.catch(() => undefined);
  return async () => {
    isOver = true;
    await done;
    return (1000 * count) / (performance.now() - beganMs);
  };
}
