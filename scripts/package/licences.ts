import { readFileSync } from 'node:fs';
import { argumentsOf, script, withFolder } from '../script.js';
import { bundleDaemon } from './bundle.js';
import { completePackages, shippedIn } from './supply.js';

argumentsOf(
  {
    command: 'npm run licences',
    about: 'Lists what is shipped and its licences. Fails if a licence is not known to be permissive.',
  },
  {},
);

/** These licences require only that their text is included. The package has it in `copyright`. */
const PERMISSIVE = ['MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'Apache-2.0', 'BlueOak-1.0.0'];

await script(async () => {
  const natives = Object.keys(JSON.parse(readFileSync('package.json', 'utf8')).optionalDependencies);
  completePackages(natives);
  await withFolder('licences', async folder => {
    const shipped = shippedIn((await bundleDaemon(natives, folder)).packages);
    for (const { name, version, license } of shipped) console.log(`${license.padEnd(14)} ${name} ${version}`);
    const others = shipped.filter(({ license }) => !PERMISSIVE.includes(license));
    if (others.length === 0) return;
    const named = others.map(({ name, license }) => `${name} (${license})`).join(', ');
    throw new Error(`licences to look at, and to add to PERMISSIVE in scripts/package/licences.ts: ${named}`);
  });
});
