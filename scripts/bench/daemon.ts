import { runProgram } from '../../src/command/command.js';
import { serveCommand } from '../../src/command/serve-command.js';
import type { Entry } from '../../src/daemon/run.js';
import { MemoryHardware } from './memory-hardware.js';
import { WireTime } from './wire-time.js';

/**
 * The daemon that is measured, on a bus and a pin in memory. With BENCH_BUS_HZ a transaction takes the time that it takes
 * on the wire of such a bus.
 */
const busHz = Number(process.env.BENCH_BUS_HZ ?? 0);

const entry: Entry = {
  open: async () => ({ hardware: new MemoryHardware(busHz > 0 ? new WireTime(busHz) : undefined) }),
};
const serve = serveCommand({ host: '127.0.0.1', state: 'bench-state' }, entry);
void runProgram(
  { name: 'trunnion-bench', about: 'What npm run bench measures.', commands: [serve] },
  process.argv.slice(2),
);
