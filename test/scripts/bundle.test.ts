import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { bundleDaemon } from '../../scripts/package/bundle.js';
import { temporaryFolder } from '../support/daemon.js';

describe('a program in the package', () => {
  const temporary = temporaryFolder();

  it('takes its version from the package.json at the root of the package, even if the program lies in a deep subfolder', async function () {
    this.timeout(120_000);
    const folder = temporary();
    await bundleDaemon([], folder, ['src/core/version']);
    const manifest = {
      ...JSON.parse(readFileSync('package.json', 'utf8')),
      version: '1.2.3',
      type: 'commonjs',
    };
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
    const said = (...args: string[]) => execFileSync(process.execPath, args, { encoding: 'utf8' }).trim();
    const deep = JSON.stringify(join(folder, 'dist/src/core/version.js'));
    expect(said('-e', `console.log(require(${deep}).version)`)).equal('1.2.3');
    expect(said(join(folder, 'dist/src/main.js'), '--version')).equal('1.2.3');
  });
});
