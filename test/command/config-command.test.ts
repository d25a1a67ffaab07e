import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { checkConfig } from '../../src/command/config-command.js';
import { inTemporaryFolder } from '../support/daemon.js';

describe('“trunnion config check”', () => {
  it('exits with code 0 for a correct file and code 1 for a missing or wrong file, and prints the line of each mistake', () =>
    inTemporaryFolder(async folder => {
      const file = join(folder, 'config.yaml');
      await writeFile(file, 'http:\n  port: 8080\n');
      expect(checkConfig(file)).to.deep.equal({ text: `${file} is without a mistake.`, exitCode: 0 });
      await writeFile(file, 'http:\n  prot: 8080\nlaser:\n  gpio: x\n');
      const { text, exitCode } = checkConfig(file);
      expect(exitCode).to.equal(1);
      expect(text).to.include(`${file}:2: http.prot`).and.include(`${file}:4: laser.gpio`);
      expect(checkConfig(join(folder, 'none')).exitCode).to.equal(1);
    }));
});
