/** npm run licences: what is shipped, and under which licence; it fails at one that nobody has looked at. */
import { readFileSync } from 'node:fs';
import { script, withFolder } from '../script.js';
import { bundleDaemon } from './bundle.js';
import { requirePackages, shippedIn } from './supply.js';

/** They ask for no more than their words in the package, which copyright there has. */
const PERMISSIVE = ['MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'Apache-2.0', 'BlueOak-1.0.0'];

await script(async () => {
  const natives = Object.keys(JSON.parse(readFileSync('package.json', 'utf8')).optionalDependencies);
  requirePackages(natives);
  await withFolder('licences', async folder => {
    const shipped = shippedIn((await bundleDaemon(natives, folder)).packages);
    for (const { name, version, license } of shipped) console.log(`${license.padEnd(14)} ${name} ${version}`);
    const others = shipped.filter(({ license }) => !PERMISSIVE.includes(license));
    if (others.length === 0) return;
    const named = others.map(({ name, license }) => `${name} (${license})`).join(', ');
    throw new Error(`licences to look at, and to add to PERMISSIVE in scripts/package/licences.ts: ${named}`);
  });
});
