import { execFileSync } from 'node:child_process';
import { argumentsOf, oneOf, script, wholeNumberOf } from '../../scripts/script.js';
import { coreModule } from '../../sim/core/core-robot.js';
import { UNIT_LIST, type UnitName } from '../../src/core/units.js';
import { ImageUnderLoad } from './image-under-load.js';
import { compareProtocols, firmwareAndCore } from './protocol-comparison.js';

/** After so many `transactions`, a stretch with new controllers begins. Their counts of captures and refusals start at 0. */
const STRETCH = {
  core: { transactions: 20_000, pauses: { chance: 0.33, longChance: 0.02, most: 3 } },
  /** Pauses are short, because the emulator is slow. */
  image: { transactions: 5000, pauses: { chance: 0.15, longChance: 0.0004, most: 1 } },
};

const { values } = argumentsOf(
  {
    command: 'npm run firmware:compare',
    about:
      'Compiles the C core and compares it with the simulated firmware, byte by byte. Needs clang and lld.',
  },
  {
    transactions: { type: 'string', default: '300000', about: 'random reads and writes in all' },
    seed: { type: 'string', about: 'of the random transactions (default: a fresh one)' },
    image: {
      type: 'string',
      about: `compares the image of this unit (${UNIT_LIST.map(({ name }) => name).join(', ')}) in an emulated Pico with the core`,
    },
  },
);
const seed = wholeNumberOf('seed', values.seed ?? String(Date.now() % 2 ** 31), 0);
const transactions = wholeNumberOf('transactions', values.transactions, 1);
const names = UNIT_LIST.map(({ name }) => name);
const image = values.image === undefined ? undefined : oneOf<UnitName>('image', values.image, names);

await script(() => {
  if (image === undefined) execFileSync('scripts/firmware/core', { stdio: 'inherit' });
  const module = coreModule('dist/firmware/core.wasm');
  const startedMs = performance.now();
  const units = UNIT_LIST.filter(({ name }) => image === undefined || image === name);
  const figures: string[] = [];
  const usual = STRETCH[image === undefined ? 'core' : 'image'];
  let sent = 0;
  for (let stretch = 0; sent < transactions; stretch += 1)
    for (const unit of units) {
      const own = seed + 2 * stretch;
      const under =
        image === undefined ? undefined : new ImageUnderLoad(unit, module, own, stretch % 2 === 1);
      const exchange = { ...usual, unit, seed: own, isCapturing: stretch % 4 === 3 };
      compareProtocols(under === undefined ? firmwareAndCore(module, unit, own) : [under], exchange);
      sent += usual.transactions;
      if (under !== undefined) figures.push(under.figures());
    }
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  const what = image === undefined ? 'core and simulated firmware' : `core and image of the ${image}`;
  console.log(`${sent} transactions from seed ${seed}: ${what} agree, ${seconds} s`);
  for (const line of figures) console.log(line);
});
