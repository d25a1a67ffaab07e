import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Server } from '../../scripts/bench/server.js';
import { argumentsOf, script, wholeNumberOf, withFolder } from '../../scripts/script.js';
import { atThePort, finding, inside } from './fuzzer.js';

const HANG_MS = 1000;
/** The memory of the daemon may grow by this much for caches, compiled code and garbage. */
const GROWTH_MIB = 40;
/** The log levels of the daemons. A line of the log is made from what a caller sent. */
const LEVELS = ['info', 'debug'];

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
    const daemons = await Promise.all(LEVELS.map(level => started(level, folder)));
    const memoryMiB = () => Math.max(...daemons.map(({ rssMiB }) => rssMiB));
    const found: string[] = [];
    try {
      const ports = await Promise.all(
        daemons.map(({ port }) => atThePort(`http://127.0.0.1:${port}`, HANG_MS)),
      );
      const fuzzers = [...ports.flat(), ...inside(HANG_MS)];
      const untilMs = performance.now() + seconds * 1000;
      let warmMiB: number | undefined;
      for (let round = 0; performance.now() < untilMs; round += 1) {
        for (const fuzzer of fuzzers) {
          const problem = await finding(fuzzer, seed + round, fuzzer.runsPerSecond * 2);
          if (problem !== undefined) found.push(problem);
        }
        // The memory of a daemon that has ended cannot be read.
        if (found.length > 0) break;
        warmMiB ??= memoryMiB();
        console.log(`round ${round + 1}: nothing found, a daemon has ${memoryMiB().toFixed(0)} MiB`);
      }
      const grownMiB = found.length > 0 ? 0 : memoryMiB() - (warmMiB ?? 0);
      if (grownMiB > GROWTH_MIB) found.push(`a daemon grew by ${grownMiB.toFixed(0)} MiB`);
    } finally {
      for (const daemon of daemons) await daemon.stop();
    }
    for (const problem of found) console.error(`\n${problem}`);
    process.exitCode = found.length > 0 ? 1 : 0;
  }),
);

function started(level: string, folder: string): Promise<Server> {
  const config = join(folder, `${level}.yaml`);
  writeFileSync(config, `log:\n  level: ${level}\n`);
  const options = ['--config', config, '--state', join(folder, level)];
  return Server.start(
    { name: level, args: port => ['dist/sim/main.js', '--port', String(port), ...options] },
    folder,
  );
}
