import { run } from '../../src/daemon/run.js';
import { get } from '../../src/http/route.js';
import { MemoryHardware } from './memory-hardware.js';
import { WireTime } from './wire-time.js';

/**
 * The entry that is measured: the daemon, packaged, on a bus and a pin in memory. With BENCH_BUS_HZ a transaction takes
 * the time that it has on the wire of such a bus.
 */

const busHz = Number(process.env.BENCH_BUS_HZ ?? 0);
const hardware = new MemoryHardware(busHz > 0 ? new WireTime(busHz) : undefined);
const hidden = { tag: 'Bench', right: 'none', summary: 'For the bench', answer: { type: 'array' } } as const;

void run(
  {
    name: 'trunnion-bench',
    about: 'What npm run bench measures.',
    defaults: { host: '127.0.0.1', state: 'bench-state' },
    commands: {},
    open: async () => ({
      hardware,
      extraRoutes: [
        get({ ...hidden, path: '/bench/wire', id: 'benchWire', act: () => hardware.takeTransactions() }),
        get({
          ...hidden,
          path: '/bench/dark',
          id: 'benchDark',
          act: () => hardware.takeDarkAtNs().map(String),
        }),
      ],
    }),
  },
  process.argv.slice(2),
);
