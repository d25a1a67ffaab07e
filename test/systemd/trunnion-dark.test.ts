import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { RobotError } from '../../src/core/errors.js';
import { openOn } from '../../src/hardware/linux-hardware.js';
import { isMissing } from '../../src/hardware/ports.js';
import { exportedLine, makeTree, PI_3_OLD, PI_4, PI_5, ScriptedGpio } from '../hardware/sysfs-tree.js';
import { temporaryFolder } from '../support/daemon.js';
import { ManualClock } from '../support/manual-clock.js';

const SCRIPT = 'systemd/trunnion-dark';

describe('after the daemon has ended, trunnion-dark', () => {
  const root = temporaryFolder();
  let gpioRoot: string;
  let record: string;

  beforeEach(() => {
    gpioRoot = join(root(), 'sys/class/gpio');
    record = join(root(), 'run/trunnion/laser');
    mkdirSync(gpioRoot, { recursive: true });
    mkdirSync(join(root(), 'run/trunnion'), { recursive: true });
  });

  const direction = (line: number) => readFileSync(join(gpioRoot, `gpio${line}/direction`), 'utf8').trim();

  function darken(): { status: number | null; stderr: string } {
    return spawnSync('sh', [SCRIPT, root()], { encoding: 'utf8', env: { PATH: '/usr/bin:/bin' } });
  }

  /** Opens the laser's pin as the daemon does, and lights it. */
  async function light(bcm: number, activeLow: boolean): Promise<void> {
    const i2c = new RobotError('addon-missing', { missing: 'No i2c-bus.', cure: 'Install it.' });
    const { native } = new ScriptedGpio(gpioRoot);
    const options = { i2cBus: 1, laser: { bcm, activeLow }, clock: new ManualClock(), record };
    const hardware = await openOn({ i2c, gpio: native, gpioRoot, deviceFolder: '/nowhere' }, options);
    if (isMissing(hardware.laser)) throw new Error(hardware.laser.missing);
    hardware.laser.write(true);
  }

  const PINS = [
    { what: 'on a Pi 4', chips: PI_4, bcm: 17, activeLow: false, line: 529, dark: 'low' },
    {
      what: 'on a Pi 5 with an active-low laser',
      chips: PI_5,
      bcm: 22,
      activeLow: true,
      line: 593,
      dark: 'high',
    },
    { what: 'on a kernel before 6.6', chips: PI_3_OLD, bcm: 0, activeLow: false, line: 0, dark: 'low' },
  ];
  for (const { what, chips, bcm, activeLow, line, dark } of PINS) {
    it(`sets the pin of a lit laser to ${dark} ${what} (pin BCM ${bcm})`, async () => {
      makeTree(gpioRoot, chips);
      exportedLine(gpioRoot, line);
      await light(bcm, activeLow);
      writeFileSync(join(gpioRoot, `gpio${line}/direction`), 'out\n');
      expect(darken()).to.include({ status: 0, stderr: '' });
      expect(direction(line)).to.equal(dark);
    });
  }

  it('writes no pin if the daemon had opened no laser pin', () => {
    makeTree(gpioRoot, PI_4);
    exportedLine(gpioRoot, 529);
    expect(darken()).to.include({ status: 0, stderr: '' });
    expect(direction(529)).to.equal('in');
  });

  it('fails with a message if the laser pin cannot be written after an attempt to export it', () => {
    makeTree(gpioRoot, PI_4);
    writeFileSync(record, '529 low\n');
    // files in a folder replace the kernel and do not react to the export, so the script gives up after a second
    const { status, stderr } = darken();
    expect(status).to.equal(1);
    expect(stderr).to.contain(`cannot write 'low' to ${join(gpioRoot, 'gpio529/direction')}`);
    expect(readFileSync(join(gpioRoot, 'export'), 'utf8')).to.equal('529\n');
  });
});
