import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { inTemporaryFolder } from '../support/daemon.js';

const program = fileURLToPath(new URL('../../scripts/step/main.js', import.meta.url));

describe('`npm run step`', () => {
  const step = (args: string) =>
    spawnSync(process.execPath, [program, ...args.split(' ')], { encoding: 'utf8' });

  it('prints the figures of a step response as JSON and draws its curve as SVG, even if the loop diverges', () =>
    inTemporaryFolder(async folder => {
      const file = join(folder, 'curve.svg');
      const { status, stdout } = step(
        `--motor wheel --loop speed --kp -5 --ki=-.5 --delay 3 --step -2 --svg ${file}`,
      );
      expect([status, JSON.parse(stdout).diverged]).deep.equal([0, true]);
      expect(readFileSync(file, 'utf8')).match(/^<svg [\s\S]*<path [\s\S]*<\/svg>\n$/);
    }));

  for (const [args, message, why] of [
    ['--kp 1', /--j is missing/, 'no motor is given'],
    ['--motor yaw --open-loop --kp 1', /give --kp/, 'an open loop has no gains'],
    ['--motor yaw --kp 1e999', /--kp takes a number/, 'the gain is infinite'],
    ['--motor knee --kp 1', /--motor takes yaw or pitch or wheel, not "knee"/, 'no motor is called knee'],
  ] as const)
    it(`refuses \`${args}\` with exit code 2, because ${why}`, () => {
      const { status, stdout, stderr } = step(args);
      expect([status, stdout]).deep.equal([2, '']);
      expect(stderr).match(message);
    });
});
