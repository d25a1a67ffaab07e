import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { stepArguments, UsageError } from '../../scripts/step/step-arguments.js';

const program = fileURLToPath(new URL('../../scripts/step/main.js', import.meta.url));
const PLANT = '--j 3.2284e-6 --b 3.5077e-6 --k 0.0274 --r 4 --l 2.75e-6';

function step(args: string) {
  return spawnSync(process.execPath, [program, ...args.split(' ')], { encoding: 'utf8' });
}

describe('npm run step', () => {
  it('prints the figures as JSON and draws the curve', () => {
    const folder = mkdtempSync(join(tmpdir(), 'step-'));
    try {
      const file = join(folder, 'curve.svg');
      const run = step(`${PLANT} --kp 21 --ki 500 --kd 0.15 --rate 200000 --seconds 0.5 --svg ${file}`);
      expect(run.status, run.stderr).equal(0);
      const figures = JSON.parse(run.stdout);
      expect(figures).include({ end: 'settled', oscillation: null, diverged: false });
      expect(figures.overshootPercent).closeTo(12.1, 0.5);
      expect(readFileSync(file, 'utf8')).match(/^<svg [\s\S]*<polyline [\s\S]*<\/svg>\n$/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('refuses nonsense on standard error, with exit code 2', () => {
    const run = step('--motor knee --kp 1');
    expect(run.status).equal(2);
    expect(run.stdout).equal('');
    expect(run.stderr).match(/--motor must be yaw or pitch or wheel, not "knee"/);
  });

  for (const args of [
    '--motor yaw --kp 300 --kd 7.5 --derivative measurement --filter 0.002 --saturation 24',
    '--motor wheel --loop speed --kp -5 --ki=-.5 --delay 3 --step -2',
    '--motor pitch --open-loop --loop position --seconds 2',
    '--j 0.01 --b 0.1 --k 0.01 --r 1 --l 0.5 --open-loop --rate 1e6',
    '--help',
  ]) {
    it(`takes ${args}`, () => {
      expect(() => stepArguments(args.split(' '))).not.throw();
    });
  }

  for (const [args, message] of [
    ['--kp 1', /plant is missing/],
    ['--j 1 --b 1 --k 1 --kp 1', /plant is missing/],
    ['--motor yaw', /give --kp/],
    ['--motor yaw --j 1 --kp 1', /exclude each other/],
    ['--motor yaw --kp one', /--kp must be a number, not "one"/],
    ['--motor yaw --kp 1e999', /--kp must be a number/],
    ['--motor yaw --kp', /--kp/],
    ['--motor yaw --kp 1 --rate 0', /--rate must be at least 1/],
    ['--motor yaw --kp 1 --rate 2e6', /--rate must be at most 1000000/],
    ['--motor yaw --kp 1 --delay 1.5', /--delay must be a whole number/],
    ['--motor yaw --kp 1 --delay -1', /--delay must be at least 0/],
    ['--motor yaw --kp 1 --saturation 0', /--saturation must be above 0/],
    ['--motor yaw --kp 1 --seconds -1', /--seconds must be above 0/],
    ['--motor yaw --kp 1 --seconds 1e9', /more than 10000000 steps/],
    ['--motor yaw --kp 1 --step 0', /--step 0/],
    ['--motor yaw --kp 1 --loop torque', /--loop must be position or speed/],
    ['--motor yaw --kp 1 --derivative none', /--derivative must be error or measurement/],
    ['--motor yaw --open-loop --kp 1', /no controller/],
    ['--j -1 --b 1 --k 1 --r 1 --kp 1', /--j must be above 0/],
    ['--j 1 --b 1 --k 1 --r 0 --kp 1', /--r must be above 0/],
    ['--motor yaw --kp 1 --gain 3', /--gain/],
    ['--motor yaw --kp 1 now', /now/],
  ] as const) {
    it(`refuses ${args}`, () => {
      expect(() => stepArguments(args.split(' '))).throw(UsageError, message);
    });
  }
});
