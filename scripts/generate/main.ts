import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { argumentsOf, script } from '../script.js';
import { generatedFiles } from './generated-files.js';

argumentsOf({ command: 'npm run generate', about: 'Writes the generated files in docs and systemd.' }, {});
const root = fileURLToPath(new URL('../../../', import.meta.url));
await script(async () => {
  for (const [path, text] of await generatedFiles(root)) writeFileSync(join(root, path), text);
});
