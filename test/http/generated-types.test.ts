import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import openapiTS from 'openapi-typescript';
import { inTemporaryFolder } from '../support/daemon.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** The generated name, the file that declares our type, and our name. */
const EQUAL = [
  ['Status', 'schemas/status', 'Status'],
  ['Step', 'schemas/step', 'Step'],
  ['Problem', 'http/problems', 'Problem'],
] as const;
/** Our types for these are less precise than the document: they accept any loop, and any unit's telemetry. */
const LOOSER = [
  ['Telemetry', 'schemas/telemetry', 'Telemetry'],
  ['GainSet', 'core/units', 'GimbalGains'],
  ['GainSet', 'core/units', 'ChassisGains'],
  ['Excitation', 'core/units', 'GimbalExcitation'],
] as const;

describe('the types that openapi-typescript makes of the document', () => {
  it("are the daemon's own", () =>
    inTemporaryFolder(async folder => {
      const ours = (type: string, file: string) => `import('${join(root, 'src', file)}.ts').${type}`;
      const theirs = (name: string) => `import('./generated.ts').components['schemas']['${name}']`;
      const checks = [
        ...[...EQUAL, ...LOOSER].map(([type, file, name]) => [theirs(name), ours(type, file)]),
        ...EQUAL.map(([type, file, name]) => [ours(type, file), theirs(name)]),
      ].map(([from, to], index) => `export const check${index} = (value: ${from}): ${to} => value;`);
      const document = JSON.parse(readFileSync(join(root, 'docs/openapi.json'), 'utf8'));
      writeFileSync(join(folder, 'generated.ts'), await openapiTS(document, { immutableTypes: true }));
      writeFileSync(join(folder, 'checks.ts'), checks.join('\n'));
      const options = { noEmit: true, strict: true, skipLibCheck: true, allowImportingTsExtensions: true };
      const compilerOptions = { ...options, module: 'nodenext', target: 'es2023', types: [] };
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['checks.ts'] }));
      const tsc = join(root, 'node_modules/typescript/bin/tsc');
      const said = await promisify(execFile)(process.execPath, [tsc, '-p', folder]).catch(error => error);
      expect(said.stdout).to.equal('');
    }));
});
