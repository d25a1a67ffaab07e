import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import openapiTS from 'openapi-typescript';
import { inTemporaryFolder } from '../support/daemon.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** Our type, the file that declares it, and its name in the document. */
const PAIRS: readonly [string, string, string][] = [
  ['Status', 'schemas/status', 'Status'],
  ['Telemetry', 'schemas/telemetry', 'Telemetry'],
  ['Step', 'schemas/step', 'Step'],
  ['Problem', 'http/problems', 'Problem'],
  ['GainSet', 'core/units', 'GimbalGains'],
  ['GainSet', 'core/units', 'ChassisGains'],
  ['Excitation', 'core/units', 'GimbalExcitation'],
];
/** Ours say less of their members than the document does: any loop, any unit's telemetry. */
const LOOSER = ['GimbalGains', 'ChassisGains', 'GimbalExcitation', 'Telemetry'];

function checks(): string {
  return PAIRS.map(([type, file, name]) => {
    const ours = `import('${join(root, 'src', file)}.ts').${type}`;
    const theirs = `import('./generated.ts').components['schemas']['${name}']`;
    const back = LOOSER.includes(name)
      ? ''
      : `export const theirs${name} = (value: ${ours}): ${theirs} => value;\n`;
    return `export const ours${name} = (value: ${theirs}): ${ours} => value;\n${back}`;
  }).join('');
}

/** What the compiler says of these files; nothing when all is well. */
async function compile(folder: string, files: readonly string[]): Promise<string> {
  const options = { noEmit: true, strict: true, skipLibCheck: true, allowImportingTsExtensions: true };
  const compilerOptions = { ...options, module: 'nodenext', target: 'es2023', types: [] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const run = promisify(execFile)(process.execPath, [tsc, '-p', folder]);
  return run.then(
    () => '',
    (error: { stdout?: string }) => error.stdout ?? String(error),
  );
}

describe('the types that openapi-typescript makes of the document', () => {
  it("are the daemon's own", () =>
    inTemporaryFolder(async folder => {
      const document = JSON.parse(readFileSync(join(root, 'docs/openapi.json'), 'utf8'));
      const types = await openapiTS(document, { immutableTypes: true });
      writeFileSync(join(folder, 'generated.ts'), types);
      writeFileSync(join(folder, 'checks.ts'), checks());
      expect(await compile(folder, ['checks.ts'])).to.equal('');
    }));
});
