import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { isRobotError, type Missing, RobotError } from '../../src/core/errors.js';
import type { I2cNative, NativeBus } from '../../src/hardware/i2c.js';
import { openOn } from '../../src/hardware/linux-hardware.js';
import { type Hardware, isMissing, type OutputPin } from '../../src/hardware/ports.js';
import { PathLock } from '../../src/storage/path-lock.js';
import { eventually, inTemporaryFolder } from '../support/daemon.js';
import { ManualClock } from '../support/manual-clock.js';
import { requirePrograms } from '../support/programs.js';
import { passing, until } from './expecting.js';
import { exportedLine, makeTree, PI_4, ScriptedGpio } from './sysfs-tree.js';

const i2c = new RobotError('addon-missing', { missing: 'No i2c-bus.', cure: 'Install it.' });
const laser = { bcm: 17, activeLow: false };

function pinOf(hardware: Hardware): OutputPin {
  if (isMissing(hardware.laser)) throw new Error(`missing: ${hardware.laser.missing}`);
  return hardware.laser;
}

function missingOf(hardware: Hardware): Missing {
  if (isMissing(hardware.laser)) return hardware.laser;
  throw new Error('there is a laser');
}

function isClosed(hardware: Hardware): boolean {
  try {
    return hardware.interlock?.isClosed() ?? false;
  } catch {
    return false;
  }
}

/** The hardware of a Pi 4, made of files in a folder. The laser is line 529, and the optional interlock line 539. */
function withPi(act: (pi: ReturnType<typeof piIn>) => Promise<void>): Promise<void> {
  return inTemporaryFolder(async root => {
    makeTree(root, PI_4);
    await act(piIn(root));
  });
}

function piIn(root: string, addon: I2cNative | RobotError = i2c) {
  const gpio = new ScriptedGpio(root);
  const clock = new ManualClock();
  const natives = { i2c: addon, gpio: gpio.native, gpioRoot: root, deviceFolder: root };
  const open = (more: object = {}) => openOn(natives, { i2cBus: 1, laser, clock, ...more });
  return { root, gpio, clock, open };
}
const INTERLOCK = { interlock: { bcm: 27, activeLow: true } };

describe('Linux hardware', () => {
  it('has no laser and no bus if the native addons are missing, and reports what is missing and the cure', async () => {
    const gpio = new RobotError('addon-missing', { missing: 'No onoff.', cure: 'Install it.' });
    const clock = new ManualClock();
    const hardware = await openOn(
      { i2c, gpio, gpioRoot: '/nowhere', deviceFolder: '/nowhere' },
      { i2cBus: 1, laser, clock },
    );
    expect(hardware.simulated).to.equal(false);
    expect(missingOf(hardware)).to.deep.equal({ missing: 'No onoff.', cure: 'Install it.' });
    const asked = await hardware.bus.readBlock(0x20, 0, 1).catch((error: unknown) => error);
    expect(asked).to.equal(i2c);
    await hardware.close();
  });

  it('cannot be opened while the file lock of the I2C bus is taken, and holds that file lock while open', function () {
    requirePrograms(this, 'flock');
    return inTemporaryFolder(async root => {
      makeTree(root, PI_4);
      exportedLine(root, 529, { value: '1', direction: 'out' });
      writeFileSync(join(root, 'i2c-1'), '');
      let open = 0;
      const bus: NativeBus = {
        readI2cBlock: (_address, _register, length, _into, done) => done(null, length),
        writeI2cBlock: (_address, _register, _length, _data, done) => done(null),
        closeSync: () => {
          open -= 1;
        },
      };
      const openSync = () => {
        open += 1;
        return bus;
      };
      const { open: start } = piIn(root, { openSync });
      const elsewhere = new PathLock(join(root, 'i2c-1'));
      await elsewhere.hold();
      const refusal = await start().catch((error: unknown) => error);
      expect(isRobotError(refusal, 'bus-in-use')).to.equal(true);
      expect(open).to.equal(0);
      expect(readFileSync(join(root, 'gpio529/value'), 'utf8')).to.equal('1\n');
      await elsewhere.release();

      const hardware = await start();
      expect(await hardware.bus.readBlock(0x20, 0, 4)).to.have.length(4);
      expect(await elsewhere.hold().catch(() => 'taken')).to.equal('taken');
      await hardware.close();
      await elsewhere.hold();
      await elsewhere.release();
    });
  });

  it('opens a laser pin that was missing at the start as soon as the pin appears, with the laser dark', () =>
    inTemporaryFolder(async folder => {
      const root = join(folder, 'gpio');
      const { clock, open } = piIn(root);
      const hardware = await open();
      expect(missingOf(hardware).missing).to.equal(`There is no ${root}`);
      mkdirSync(root);
      makeTree(root, PI_4);
      exportedLine(root, 529, { value: '1', direction: 'out' });
      await until(clock, () => !isMissing(hardware.laser));
      expect(pinOf(hardware).read()).to.equal(false);
      await hardware.close();
    }));

  it('does not open the laser pin if the pin cannot be recorded for `trunnion-dark`, which darkens the laser after a crash', () =>
    withPi(async ({ root, open }) => {
      const line = exportedLine(root, 529);
      const record = join(root, 'nowhere/laser');
      const hardware = await open({ record });
      expect(missingOf(hardware).missing).to.match(/^.*nowhere\/laser cannot be written/);
      expect(readFileSync(join(line, 'direction'), 'utf8')).to.equal('in\n');
      await hardware.close();
    }));

  it('reopens a laser pin that has disappeared and come back, and leaves that pin open when the hardware is closed', () =>
    withPi(async ({ root, gpio, clock, open }) => {
      const line = exportedLine(root, 529);
      const hardware = await open();
      const pin = pinOf(hardware);
      await clock.advance(2000);
      rmSync(line, { recursive: true });
      expect(() => pin.write(true)).to.throw(RobotError, 'pin-failed');
      expect(missingOf(hardware).missing).to.equal('GPIO line 529 cannot be written: ENOENT');
      exportedLine(root, 529);
      await clock.advance(10);
      await eventually(async () => !isMissing(hardware.laser));
      pinOf(hardware).write(true);
      await hardware.close();
      expect(pinOf(hardware).read()).to.equal(true);
      pinOf(hardware).write(false);
      expect(gpio.released).to.deep.equal([529]);
    }));

  it('darkens a lit laser at once if one read of its pin fails', () =>
    withPi(async ({ root, gpio, clock, open }) => {
      exportedLine(root, 529);
      const hardware = await open();
      pinOf(hardware).write(true);
      gpio.failingReads = 1;
      expect(() => pinOf(hardware).read()).to.throw(RobotError, 'pin-failed');
      expect(gpio.writes.at(-1)).to.equal('value 0');
      exportedLine(root, 529, { value: '1', direction: 'out' });
      await until(clock, () => !isMissing(hardware.laser));
      expect(pinOf(hardware).read()).to.equal(false);
      await hardware.close();
    }));

  it('reports that the interlock has opened if the interlock pin is missing or unreadable when an interrupt arrives', () =>
    withPi(async ({ root, gpio, clock, open }) => {
      exportedLine(root, 529);
      const contact = exportedLine(root, 539, { value: '0' });
      const hardware = await open(INTERLOCK);
      let opened = 0;
      hardware.interlock?.onOpen(() => {
        opened += 1;
      });
      rmSync(contact, { recursive: true });
      gpio.edge();
      expect(opened).to.equal(1);
      expect(gpio.released).to.deep.equal([539]);
      gpio.edge();
      expect(opened).to.equal(1);
      exportedLine(root, 539, { value: '0' });
      await until(clock, () => isClosed(hardware));
      gpio.failingReads = 1;
      gpio.edge();
      expect(opened).to.equal(2);
      await hardware.close();
    }));

  it('reports when an interlock opens, even if the interlock pin was missing at the start and appeared later', () =>
    withPi(async ({ root, gpio, clock, open }) => {
      exportedLine(root, 529);
      const hardware = await passing(clock, open(INTERLOCK));
      let opened = 0;
      hardware.interlock?.onOpen(() => {
        opened += 1;
      });
      expect(() => hardware.interlock?.isClosed()).to.throw(RobotError, 'pin-failed');
      const contact = exportedLine(root, 539, { value: '0' });
      await until(clock, () => isClosed(hardware));
      gpio.edge();
      expect(opened).to.equal(1);
      rmSync(contact, { recursive: true });
      expect(() => hardware.interlock?.isClosed()).to.throw(RobotError, 'pin-failed');
      expect(opened).to.equal(2);
      exportedLine(root, 539, { value: '0' });
      await until(clock, () => isClosed(hardware));
      await hardware.close();
      expect(gpio.released.at(-1)).to.equal(539);
      expect(() => hardware.interlock?.isClosed()).to.throw(RobotError, 'Released');
    }));
});
