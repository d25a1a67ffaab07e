/** npm run bench [-- --quick] [--json] [--only NAME]: how fast the daemon is, against yardsticks on the same machine. */
import { cpus } from 'node:os';
import { join } from 'node:path';
import { optionsOf, refuse, script, withFolder } from '../script.js';
import { type Figure, isSane, summarize, tableOf } from './figure.js';
import { idleCosts } from './idle.js';
import { latencies } from './latencies.js';
import { memoryAfter } from './memory.js';
import { type Bench, FULL, QUICK } from './plan.js';
import { preparePrograms } from './programs.js';
import { rates } from './rates.js';
import { concurrentSaves } from './saves.js';
import { startTimes } from './start-time.js';
import { watchdogFeeds } from './watchdog.js';
import { wireBytes } from './wire-bytes.js';

const PARTS: Readonly<Record<string, (bench: Bench) => Promise<Figure[]>>> = {
  rates,
  latencies,
  wire: wireBytes,
  saves: concurrentSaves,
  idle: idleCosts,
  memory: memoryAfter,
  watchdog: watchdogFeeds,
  start: startTimes,
};

const asked = optionsOf({
  quick: { type: 'boolean' },
  json: { type: 'boolean' },
  only: { type: 'string', multiple: true },
});
const unknown = asked.only?.find(name => PARTS[name] === undefined);
if (unknown !== undefined) refuse(`no part ${unknown}: ${Object.keys(PARTS).join(', ')}`);
// What hears no signal does not end its servers.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
const machine = `${cpus().length} cores (${cpus()[0]?.model ?? 'unknown'}), Node ${process.versions.node}`;

await script(() =>
  withFolder('bench', async folder => {
    const plan = asked.quick ? QUICK : FULL;
    const programsWith = await preparePrograms(folder);
    const figures: Figure[] = [];
    for (const [name, measure] of Object.entries(PARTS)) {
      if (asked.only !== undefined && !asked.only.includes(name)) continue;
      process.stderr.write(`${name} …\n`);
      // What one part saves is no burden to the next.
      const own = join(folder, name);
      figures.push(
        ...(await measure({ plan, programs: await programsWith(join(own, 'state')), folder: own })),
      );
    }
    const summaries = figures.map(figure => summarize(figure));
    const text = asked.json
      ? JSON.stringify({ machine, quick: asked.quick ?? false, figures: summaries }, undefined, 2)
      : `${tableOf(summaries)}\n\n${machine}`;
    process.stdout.write(`${text}\n`);
    const insane = summaries.filter(summary => !isSane(summary));
    for (const { name } of insane) process.stderr.write(`no sane figure: ${name}\n`);
    process.exitCode = insane.length > 0 ? 1 : 0;
  }),
);
