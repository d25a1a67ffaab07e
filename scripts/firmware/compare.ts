import { execFileSync } from 'node:child_process';
import { coreModule } from '../../sim/pico/core-robot.js';
import { UNIT_LIST } from '../../src/core/units.js';
import { argumentsOf, script, wholeNumberOf } from '../script.js';
import { compareProtocols } from './protocol-comparison.js';

/** A reset comes about once in this many transactions. It also resets the counts of captures and refusals. */
const STRETCH = 20_000;

const { values } = argumentsOf(
  {
    command: 'npm run firmware:compare',
    about:
      'Compiles the C core and compares it with the simulated firmware, byte by byte. Needs clang and lld.',
  },
  {
    transactions: { type: 'string', default: '300000', about: 'random reads and writes in all' },
    seed: { type: 'string', about: 'of the random transactions (default: a fresh one)' },
  },
);
const seed = wholeNumberOf('seed', values.seed ?? String(Date.now() % 2 ** 31), 0);
const transactions = wholeNumberOf('transactions', values.transactions, 1);

await script(() => {
  execFileSync('scripts/firmware/core', { stdio: 'inherit' });
  const module = coreModule('dist/firmware/core.wasm');
  const startedMs = performance.now();
  let sent = 0;
  for (let stretch = 0; sent < transactions; stretch += 1)
    for (const unit of UNIT_LIST) {
      const found = compareProtocols(module, unit, seed + 2 * stretch, STRETCH, stretch % 4 === 3);
      if (found === undefined) {
        sent += STRETCH;
        continue;
      }
      const { steps, simulated, core } = found;
      throw new Error(
        `${unit.name}, seed ${seed + 2 * stretch}: ${steps.join('; ')}; simulated ${simulated}, core ${core}`,
      );
    }
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  console.log(`${sent} transactions from seed ${seed}: core and simulated firmware agree, ${seconds} s`);
});
