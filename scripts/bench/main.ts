import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { progress } from '../../src/command/output.js';
import { argumentsOf, script, wholeNumberOf, withFolder } from '../script.js';
import { HAS_WRK } from './load.js';
import { acts, type Figures, FULL, idleShare, polls, QUICK, rates, warm } from './measure.js';
import { buildRevision, PLAIN_KOA, simulatorOf } from './programs.js';
import { type Program, Server } from './server.js';
import { tableOf } from './table.js';

const { values } = argumentsOf(
  {
    command: 'npm run bench',
    about: `Measures the simulator of the package beside a plain Koa server: start, idle, memory, GET, POST, save, mode switch, stop,
laser off, and the referee's poll beside strangers. Measures rates with wrk if it is installed.`,
  },
  {
    against: { type: 'string', about: 'a git revision: both are measured in turns and compared' },
    runs: { type: 'string', default: '5', about: 'how often everything is measured' },
    quick: {
      type: 'boolean',
      about: 'shows in seconds that everything is measured, not how fast anything is',
    },
  },
);
const runs = values.quick ? 1 : wholeNumberOf('runs', values.runs, 1);
const plan = values.quick ? QUICK : FULL;
// Server kills its process on `exit`, which Node emits after process.exit() but not after a signal.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

/** A program and the figures of all runs. */
interface Measured {
  readonly program: Program;
  readonly runs: Figures[];
}

await script(() =>
  withFolder('bench', async folder => {
    const daemons = [await simulatorOf('here', resolve('.'), folder)];
    if (values.against !== undefined) {
      const checkout = join(folder, 'revision');
      buildRevision(values.against, checkout);
      daemons.push(await simulatorOf(values.against.replaceAll('/', '-'), checkout, folder));
    }
    const measured: readonly Measured[] = [...daemons, PLAIN_KOA].map(program => ({ program, runs: [] }));
    for (let run = 0; run < runs; run += 1) {
      const own = join(folder, `run-${run}`);
      mkdirSync(own);
      progress(`run ${run + 1} of ${runs}`);
      const figures = await figuresOf(measured, own);
      for (const [index, { runs }] of measured.entries()) runs.push(figures[index] ?? {});
      console.error(`${run + 1} of ${runs} runs`);
    }
    progress('');
    console.log(tableOf(measured.map(({ program: { name }, runs }) => ({ name, runs }))));
    if (!HAS_WRK) console.log('\nThe client was not wrk and may have been slower than the servers.');
  }),
);

/** Measures every figure of all programs in turns, so that each of them meets the same machine. */
async function figuresOf(all: readonly Measured[], folder: string): Promise<Figures[]> {
  const servers: Server[] = [];
  const figures: Record<string, number>[] = all.map(() => ({}));
  const inTurns = async (measure: (server: Server, index: number) => Promise<Figures>) => {
    for (const [index, server] of servers.entries()) {
      Object.assign(figures[index] ?? {}, server.name === PLAIN_KOA.name ? {} : await measure(server, index));
    }
  };
  try {
    for (const [index, { program }] of all.entries()) {
      const beganMs = performance.now();
      servers.push(await Server.start(program, folder));
      Object.assign(figures[index] ?? {}, { 'start to first answer, ms': performance.now() - beganMs });
    }
    await Promise.all(servers.map(server => warm(server, folder, plan)));
    const idle = await Promise.all(servers.map(server => idleShare(server, plan)));
    await inTurns(async ({ rssMiB }, index) => ({
      'idle, % of a core': 100 * (idle[index] ?? 0),
      'memory, MiB': rssMiB,
    }));
    for (const [index, server] of servers.entries())
      Object.assign(figures[index] ?? {}, await rates(server, folder, idle[index] ?? 0, plan));
    await inTurns(server => acts(server, folder, plan));
    await inTurns(server => polls(server, folder, plan));
  } finally {
    for (const server of servers) await server.stop();
  }
  return figures;
}
