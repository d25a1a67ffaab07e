import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { inTemporaryFolder } from '../support/daemon.js';

const program = fileURLToPath(new URL('../../scripts/step/main.js', import.meta.url));
const PLANT = '--j 3.2284e-6 --b 3.5077e-6 --k 0.0274 --r 4 --l 2.75e-6';

function step(args: string) {
  return spawnSync(process.execPath, [program, ...args.split(' ')], { encoding: 'utf8' });
}

describe('npm run step', () => {
  it('prints the figures as JSON and draws the curve', () =>
    inTemporaryFolder(async folder => {
      const file = join(folder, 'curve.svg');
      const run = step(`${PLANT} --kp 21 --ki 500 --kd 0.15 --rate 200000 --seconds 0.5 --svg ${file}`);
      expect(run.status, run.stderr).equal(0);
      const figures = JSON.parse(run.stdout);
      expect(figures).include({ end: 'settled', oscillation: null, diverged: false });
      expect(figures.overshootPercent).closeTo(12.1, 0.5);
      expect(readFileSync(file, 'utf8')).match(/^<svg [\s\S]*<path [\s\S]*<\/svg>\n$/);
    }));

  it('takes a motor of the robot, and numbers below zero', () => {
    const run = step('--motor wheel --loop speed --kp -5 --ki=-.5 --delay 3 --step -2 --seconds 1');
    expect(run.status, run.stderr).equal(0);
    expect(JSON.parse(run.stdout)).include({ diverged: true });
  });

  for (const [args, message] of [
    ['--kp 1', /--j is missing/],
    ['--motor yaw', /give --kp/],
    ['--motor yaw --open-loop --kp 1', /give --kp/],
    ['--motor yaw --kp 1e999', /--kp takes a number/],
    ['--motor yaw --kp 1 --seconds 1e9', /more than 10000000 steps/],
    ['--motor knee --kp 1', /--motor takes yaw or pitch or wheel, not "knee"/],
    ['--motor yaw --kp 1 --gain 3', /--gain/],
  ] as const) {
    it(`refuses ${args}, with exit code 2`, () => {
      const { status, stdout, stderr } = step(args);
      expect([status, stdout]).deep.equal([2, '']);
      expect(stderr).match(message);
    });
  }
});
