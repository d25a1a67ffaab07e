import { setTimeout as delay } from 'node:timers/promises';
import { Connection } from './connection.js';

/** Saturates a server from several addresses until SIGINT. Then prints the answers per second, as `wrk` does. */
const [port, connections, addresses] = process.argv.slice(2, 5).map(Number);
const requests = process.argv.slice(5).map(text => Buffer.from(JSON.parse(text)));
const beganMs = performance.now();
let count = 0;

/** Opens another connection if the server closes one, because those of the crowd before may still be closing. */
async function call(index: number): Promise<never> {
  for (;;) {
    try {
      const connection = await Connection.open(port ?? 0, `127.0.1.${1 + (index % (addresses ?? 1))}`);
      for (let turn = index; ; turn += 1) {
        await connection.send(requests[turn % requests.length] ?? Buffer.alloc(0));
        count += 1;
      }
    } catch {
      await delay(100);
    }
  }
}

process.once('SIGINT', () => {
  console.log(`Requests/sec: ${(1000 * count) / (performance.now() - beganMs)}`);
  process.exit();
});
await Promise.all(Array.from({ length: connections ?? 0 }, (_, index) => call(index)));
