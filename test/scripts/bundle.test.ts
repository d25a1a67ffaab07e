import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { bundleDaemon } from '../../scripts/package/bundle.js';

describe('the bundle of the package', () => {
  const folder = mkdtempSync(join(tmpdir(), 'trunnion-bundle-'));

  after(() => rmSync(folder, { recursive: true }));

  it('finds what lies beside its modules, however deep a program lies', async function () {
    this.timeout(120_000);
    const depths = ['version', 'one/version', 'one/two/version'];
    await bundleDaemon(
      [],
      folder,
      depths.map(out => ({ in: 'src/core/version', out })),
    );
    const manifest = {
      ...JSON.parse(readFileSync('package.json', 'utf8')),
      version: '1.2.3',
      type: 'commonjs',
    };
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
    const versionOf = (out: string) => {
      const asked = `console.log(require(${JSON.stringify(join(folder, 'dist', `${out}.js`))}).version)`;
      return execFileSync(process.execPath, ['-e', asked], { encoding: 'utf8' }).trim();
    };
    expect(depths.map(versionOf)).deep.equal(['1.2.3', '1.2.3', '1.2.3']);
  });
});
