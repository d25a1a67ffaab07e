import { execFileSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { UNIT_LIST } from '../../src/core/units.js';

const LARGEST_BYTES = 32 * 1024;
const SOURCES = [
  'src',
  'sim',
  'test',
  'docs',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'node_modules',
];

describe('the build of the image for the Pico', () => {
  it('gives the same bytes in another folder', function () {
    this.timeout(60_000);
    const folder = mkdtempSync(join(tmpdir(), 'trunnion another folder '));
    try {
      for (const name of SOURCES) symlinkSync(resolve(name), join(folder, name));
      for (const name of ['firmware', 'scripts', 'dist/scripts'])
        cpSync(name, join(folder, name), { recursive: true });
      mkdirSync(join(folder, 'dist'), { recursive: true });
      const built = join(folder, 'dist/built');
      writeFileSync(built, '');
      utimesSync(built, new Date(Date.now() + 1e6), new Date(Date.now() + 1e6));
      execFileSync(join(folder, 'scripts/firmware/image'), { stdio: 'ignore' });
      for (const { name } of UNIT_LIST)
        for (const kind of ['bin', 'uf2']) {
          const file = `dist/firmware/${name}.${kind}`;
          expect(readFileSync(join(folder, file)).equals(readFileSync(file)), file).to.equal(true);
        }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  for (const { name } of UNIT_LIST)
    it(`keeps the ${name} within 32 KiB`, () => {
      expect(readFileSync(`dist/firmware/${name}.bin`).length).to.be.at.most(LARGEST_BYTES);
    });
});
