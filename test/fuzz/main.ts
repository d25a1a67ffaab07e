import { join } from 'node:path';
import { Server } from '../../scripts/bench/server.js';
import { argumentsOf, script, wholeNumberOf, withFolder } from '../../scripts/script.js';
import { atThePort, finding, inside } from './fuzzer.js';

const HANG_MS = 1000;
/** The memory of the daemon may grow by this much for caches, compiled code and garbage. */
const GROWTH_MIB = 40;

const { values } = argumentsOf(
  { command: 'npm run fuzz', about: 'Odd input at every place that reads input. Prints what breaks.' },
  {
    seconds: { type: 'string', default: '120', about: 'how long' },
    seed: { type: 'string', about: 'of the input (default: a fresh one)' },
  },
);
const seconds = wholeNumberOf('seconds', values.seconds, 1);
const seed = wholeNumberOf('seed', values.seed ?? String(Date.now() & 0x7fff_ffff), 0);

await script(() =>
  withFolder('fuzz', async folder => {
    console.log(`seed ${seed}, about ${seconds} s`);
    const state = join(folder, 'state');
    const daemon = await Server.start(
      { name: 'sim', args: port => ['dist/sim/main.js', '--port', String(port), '--state', state] },
      folder,
    );
    const found: string[] = [];
    try {
      const fuzzers = [...(await atThePort(`http://127.0.0.1:${daemon.port}`, HANG_MS)), ...inside(HANG_MS)];
      const untilMs = performance.now() + seconds * 1000;
      let warmMiB: number | undefined;
      for (let round = 0; performance.now() < untilMs; round += 1) {
        for (const fuzzer of fuzzers) {
          const problem = await finding(fuzzer, seed + round, fuzzer.runsPerSecond * 2);
          if (problem !== undefined) found.push(problem);
        }
        warmMiB ??= daemon.rssMiB;
        console.log(
          `round ${round + 1}: ${found.length} found, the daemon has ${daemon.rssMiB.toFixed(0)} MiB`,
        );
        if (found.length > 0) break;
      }
      const grownMiB = daemon.rssMiB - (warmMiB ?? 0);
      if (grownMiB > GROWTH_MIB) found.push(`the daemon grew by ${grownMiB.toFixed(0)} MiB`);
    } finally {
      await daemon.stop();
    }
    for (const problem of found) console.error(`\n${problem}`);
    process.exitCode = found.length > 0 ? 1 : 0;
  }),
);
