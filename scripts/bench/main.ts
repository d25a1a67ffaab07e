import { join, resolve } from 'node:path';
import { argumentsOf, script, wholeNumberOf, withFolder } from '../script.js';
import { bundledDaemons, type Daemons } from './bundled-daemon.js';
import { type Figures, FULL, measure, QUICK } from './measure.js';
import { tableOf } from './table.js';

const { values } = argumentsOf(
  {
    command: 'npm run bench',
    about: `Measures the daemon of the package on a bus and a pin in memory: stop, laser off, mode switch, save, GET, idle
processor time, memory and start. Mode switch and idle time are measured on the simulator too, whose firmware has delays.`,
  },
  {
    against: { type: 'string', about: 'another checkout, built: both are measured in turns and compared' },
    runs: { type: 'string', default: '5', about: 'how often everything is measured' },
    quick: {
      type: 'boolean',
      about: 'shows in seconds that everything is measured, not how fast anything is',
    },
  },
);
const runs = wholeNumberOf('runs', values.runs, 1);
const checkouts = ['.', ...(values.against === undefined ? [] : [values.against])].map(path => resolve(path));
// Server kills its process on `exit`, which Node emits after process.exit() but not after a signal.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

await script(() =>
  withFolder('bench', async folder => {
    const builds: { readonly daemons: Daemons; readonly measured: Figures[] }[] = [];
    for (const [index, checkout] of checkouts.entries()) {
      builds.push({ daemons: bundledDaemons(checkout, join(folder, String(index))), measured: [] });
    }
    for (let run = 0; run < (values.quick ? 1 : runs); run += 1) {
      for (const [index, { daemons, measured }] of builds.entries()) {
        const own = join(folder, `${index}-${run}`);
        measured.push(await measure(daemons, own, values.quick ? QUICK : FULL));
      }
    }
    const [now = [], against] = builds.map(({ measured }) => measured);
    console.log(tableOf(now, against));
  }),
);
