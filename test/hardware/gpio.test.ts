import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { RobotError } from '../../src/core/errors.js';
import { openInterlockPin, openLaserPin } from '../../src/hardware/gpio.js';
import { headerChip, lineNumber } from '../../src/hardware/gpio-chip.js';
import { lineError } from '../../src/hardware/gpio-line.js';
import { temporaryFolder } from '../support/daemon.js';
import { ManualClock } from '../support/manual-clock.js';
import { failureOf, passing, until } from './expecting.js';
import { exportedLine, makeTree, PI_3, PI_3_OLD, PI_4, PI_5, PI_5_OLD, ScriptedGpio } from './sysfs-tree.js';

describe('GPIO', () => {
  const root = temporaryFolder();
  /** Makes the GPIO files of a Pi in the folder. Returns the options with which the daemon opens a pin there. */
  const board = (chips: Parameters<typeof makeTree>[1] = PI_4) => {
    makeTree(root(), chips);
    const gpio = new ScriptedGpio(root());
    const clock = new ManualClock();
    return { gpio, clock, options: { native: gpio.native, root: root(), clock } };
  };
  const LASER = { bcm: 17, activeLow: false };

  const boards = [
    { name: 'Pi 3 with a kernel before 6.6', chips: PI_3_OLD, line: 17 },
    { name: 'Pi 3', chips: PI_3, line: 529 },
    { name: 'Pi 4', chips: PI_4, line: 529 },
    { name: 'Pi 5 with an early kernel', chips: PI_5_OLD, line: 416 },
    { name: 'Pi 5', chips: PI_5, line: 588 },
  ];
  for (const { name, chips, line } of boards)
    it(`uses the kernel's line ${line} for header pin BCM 17 of a ${name}`, async () => {
      board(chips);
      expect(lineNumber(await headerChip(root()), 17)).to.equal(line);
    });

  for (const [name, chips, missing] of [
    [
      'the chips if several chips could own the header pins',
      [...PI_4, ['pinctrl-bcm2835', 900, 54]],
      /More than one .*pinctrl-bcm2711 at 512.*pinctrl-bcm2835 at 900/,
    ],
    [
      'the existing chips if none of them belongs to a Pi',
      [['INT34C6:00', 512, 463]],
      /there is: INT34C6:00 at 512/,
    ],
  ] as const) {
    it(`fails with an error that names ${name}`, async () => {
      board(chips);
      expect((await failureOf(headerChip(root()), 'pin-failed')).context.missing).to.match(missing);
    });
  }

  it('fails with an error that names the kernel option CONFIG_GPIO_SYSFS if the kernel has no GPIO files in sysfs', async () => {
    const { context } = await failureOf(headerChip(join(root(), 'gpio')), 'pin-failed');
    expect(context.cure).to.match(/CONFIG_GPIO_SYSFS/);
  });

  it('refuses header pin BCM 54 of a Pi 3, whose chip has only the pins 0 to 53', async () => {
    board(PI_3);
    const chip = await headerChip(root());
    expect(() => lineNumber(chip, 54)).to.throw(RobotError, 'only 0 to 53');
  });

  for (const { activeLow, dark, light } of [
    { activeLow: false, dark: 'low', light: '1' },
    { activeLow: true, dark: 'high', light: '0' },
  ])
    it(`switches an ${activeLow ? 'active-low' : 'active-high'} laser off when the pin of the laser is opened, and again before the pin is released`, async () => {
      const { gpio, options } = board();
      const folder = exportedLine(root(), 529, { value: light, direction: 'out', active_low: '1' });
      const pin = await openLaserPin(options, { bcm: 17, activeLow });
      expect(gpio.writes).to.deep.equal(['active_low 0', `direction ${dark}`]);
      expect(pin.read()).to.equal(false);
      pin.write(true);
      expect(readFileSync(join(folder, 'value'), 'utf8')).to.equal(light);
      expect(pin.read()).to.equal(true);
      pin.write(false);
      expect(pin.read()).to.equal(false);
      pin.write(true);
      // The pin is dark before its line is given back.
      pin.release();
      expect(gpio.writes.at(-1)).to.equal(`value ${Number(activeLow)}`);
      expect(gpio.released).to.deep.equal([529]);
    });

  it('waits without blocking until the kernel has made the files of the laser pin, and then opens the pin with the laser off', async () => {
    const { gpio, clock, options } = board(PI_5);
    const opening = openLaserPin(options, LASER);
    await until(clock, () => readFileSync(join(root(), 'export'), 'utf8') === '588');
    await clock.advance(100);
    expect(gpio.writes).to.deep.equal([]);
    exportedLine(root(), 588);
    expect((await passing(clock, opening)).read()).to.equal(false);
  });

  it('times out after at least a second if the kernel never makes the files of the laser pin', async () => {
    const { clock, options } = board(PI_5);
    const { context } = await passing(clock, failureOf(openLaserPin(options, LASER), 'pin-failed'));
    expect(context.missing).to.equal('GPIO line 588 cannot be written: ENOENT');
    expect(clock.nowMs()).to.be.least(1000);
  });

  const swallowed: readonly { file: string; line: Record<string, string>; stays: string; found: RegExp }[] = [
    { file: 'direction', line: { direction: 'in' }, stays: 'an input', found: /"direction":"in"/ },
    { file: 'direction', line: { direction: 'out', value: '1' }, stays: 'lit', found: /"level":1/ },
    { file: 'active_low', line: { active_low: '1' }, stays: 'inverted', found: /"activeLow":true/ },
  ];
  for (const { file, line, stays, found } of swallowed)
    it(`refuses and releases the laser pin if it stays ${stays} because a write to its file "${file}" has no effect`, async () => {
      const { gpio, options } = board();
      exportedLine(root(), 529, line);
      gpio.refusing.add(file);
      const { context } = await failureOf(openLaserPin(options, LASER), 'pin-failed');
      expect(context.missing).to.match(found);
      expect(gpio.released).to.deep.equal([529]);
      expect(gpio.writes.at(-1)).to.equal('value 0');
    });

  for (const activeLow of [false, true])
    it(`reads an ${activeLow ? 'active-low' : 'active-high'} interlock contact as closed at level ${activeLow ? 0 : 1} and as open at level ${activeLow ? 1 : 0}, and reports a change`, async () => {
      const { gpio, options } = board();
      const folder = exportedLine(root(), 539);
      let edges = 0;
      const pin = await openInterlockPin(options, { bcm: 27, activeLow }, () => {
        edges += 1;
      });
      expect(gpio.writes).to.deep.equal(['active_low 0', 'direction in', 'edge both']);
      expect(pin.read()).to.equal(activeLow);
      writeFileSync(join(folder, 'value'), '1');
      expect(pin.read()).to.equal(!activeLow);
      gpio.edge();
      expect(edges).to.equal(1);
    });

  it('refuses and releases an interlock pin that supports no interrupts', async () => {
    const { gpio, options } = board();
    exportedLine(root(), 539);
    gpio.refusing.add('edge');
    const opening = openInterlockPin(options, { bcm: 27, activeLow: false }, () => {});
    const { context } = await failureOf(opening, 'pin-failed');
    expect(gpio.released).to.deep.equal([539]);
    expect(context.missing).to.match(/"edge":"none"/);
  });
});

describe('a GPIO error of the kernel', () => {
  const cures = [
    ['EACCES', 'put the user into the group gpio', /usermod -aG gpio/],
    ['EPERM', 'put the user into the group gpio', /usermod -aG gpio/],
    ['EROFS', 'allow the write in the systemd unit', /ReadWritePaths=/],
    ['EBUSY', 'find out what holds the pin', /debug\/gpio/],
    ['EINVAL', 'configure a pin that the board has', /a pin that this board has/],
    ['ENOENT', 'use a kernel with GPIO files in sysfs', /CONFIG_GPIO_SYSFS/],
    ['EIO', 'look at the kernel log', /dmesg/],
  ] as const;
  for (const [code, advice, cure] of cures) {
    it(`with the code ${code} is reported with the advice "${advice}"`, () => {
      const cause = Object.assign(new Error(`${code}: recorded, write`), { code, syscall: 'write' });
      const error = lineError(529, 'be exported', cause);
      expect(error.context.missing).to.equal(`GPIO line 529 cannot be exported: ${code}`);
      expect(error.context.cure).to.match(cure);
    });
  }
});
