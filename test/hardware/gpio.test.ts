import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { RobotError } from '../../src/core/errors.js';
import { type GpioNative, openInterlockPin, openLaserPin } from '../../src/hardware/gpio.js';
import { headerChip, lineNumber } from '../../src/hardware/gpio-chip.js';
import { lineError } from '../../src/hardware/gpio-line.js';
import { inTemporaryFolder } from '../support/daemon.js';
import { ManualClock } from '../support/manual-clock.js';
import { failureOf, passing, until } from './expecting.js';
import {
  exportedLine,
  makeTree,
  PI_3,
  PI_3_OLD,
  PI_4,
  PI_5,
  PI_5_EARLY,
  ScriptedGpio,
} from './sysfs-tree.js';

/** A Pi 4 in a folder, with this line exported. */
function withLine(
  line: number,
  act: (pi: {
    folder: string;
    gpio: ScriptedGpio;
    options: { native: GpioNative; root: string; clock: ManualClock };
  }) => Promise<void>,
  files: Readonly<Record<string, string>> = {},
): Promise<void> {
  return inTemporaryFolder(async root => {
    makeTree(root, PI_4);
    const folder = exportedLine(root, line, files);
    const gpio = new ScriptedGpio(root);
    await act({ folder, gpio, options: { native: gpio.native, root, clock: new ManualClock() } });
  });
}

describe('GPIO chips', () => {
  const boards = [
    { name: 'Pi 3, kernel before 6.6', chips: PI_3_OLD, line: 17 },
    { name: 'Pi 3', chips: PI_3, line: 529 },
    { name: 'Pi 4', chips: PI_4, line: 529 },
    { name: 'Pi 5, early kernels', chips: PI_5_EARLY, line: 416 },
    { name: 'Pi 5', chips: PI_5, line: 588 },
  ];
  for (const { name, chips, line } of boards) {
    it(`${name}: BCM 17 is line ${line}`, () =>
      inTemporaryFolder(async root => {
        makeTree(root, chips);
        expect(lineNumber(await headerChip(root), 17)).to.equal(line);
      }));
  }

  for (const [name, chips, missing] of [
    [
      'more than one may be meant',
      [...PI_4, ['pinctrl-bcm2835', 900, 54]],
      /More than one .*pinctrl-bcm2711 at 512.*pinctrl-bcm2835 at 900/,
    ],
    ['none is a Pi', [['INT34C6:00', 512, 463]], /there is: INT34C6:00 at 512/],
  ] as const) {
    it(`are refused if ${name}`, () =>
      inTemporaryFolder(async root => {
        makeTree(root, chips);
        expect((await failureOf(headerChip(root), 'pin-failed')).context.missing).to.match(missing);
      }));
  }

  it('are refused without sysfs', () =>
    inTemporaryFolder(async root => {
      const { context } = await failureOf(headerChip(join(root, 'gpio')), 'pin-failed');
      expect(context.cure).to.match(/CONFIG_GPIO_SYSFS/);
    }));

  it('have no pins beyond their own', () =>
    inTemporaryFolder(async root => {
      makeTree(root, PI_3);
      const chip = await headerChip(root);
      expect(() => lineNumber(chip, 54)).to.throw(RobotError, 'only 0 to 53');
    }));
});

describe('laser pin', () => {
  const LASER = { bcm: 17, activeLow: false };

  for (const { activeLow, dark, light } of [
    { activeLow: false, dark: 'low', light: '1' },
    { activeLow: true, dark: 'high', light: '0' },
  ]) {
    it(`opens ${dark} in one write when ${activeLow ? 'active-low' : 'active-high'}, and ends dark`, () =>
      withLine(
        529,
        async ({ folder, gpio, options }) => {
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
        },
        { value: light, direction: 'out', active_low: '1' },
      ));
  }

  it('is exported, and waits for udev without holding up the process', () =>
    inTemporaryFolder(async root => {
      makeTree(root, PI_5);
      const time = new ManualClock();
      const gpio = new ScriptedGpio(root);
      const opening = openLaserPin({ native: gpio.native, root, clock: time }, LASER);
      await until(time, () => readFileSync(join(root, 'export'), 'utf8') === '588');
      await time.advance(100);
      expect(gpio.writes).to.deep.equal([]);
      exportedLine(root, 588);
      const pin = await passing(time, opening);
      expect(pin.read()).to.equal(false);
    }));

  it('gives up on files that never come', () =>
    inTemporaryFolder(async root => {
      makeTree(root, PI_5);
      const time = new ManualClock();
      const gpio = new ScriptedGpio(root);
      const opening = failureOf(
        openLaserPin({ native: gpio.native, root, clock: time }, LASER),
        'pin-failed',
      );
      const { code, context } = await passing(time, opening);
      expect(code).to.equal('pin-failed');
      expect(context.missing).to.equal('GPIO line 588 cannot be written: ENOENT');
      expect(time.nowMs()).to.be.least(1000);
    }));

  const swallowed: readonly { file: string; line: Record<string, string>; found: RegExp }[] = [
    { file: 'direction', line: { direction: 'in' }, found: /"direction":"in"/ },
    { file: 'direction', line: { direction: 'out', value: '1' }, found: /"level":1/ },
    { file: 'active_low', line: { active_low: '1' }, found: /"activeLow":true/ },
  ];
  for (const { file, line, found } of swallowed) {
    it(`is refused and given back when ${file} could not be written: ${JSON.stringify(line)}`, () =>
      withLine(
        529,
        async ({ gpio, options }) => {
          gpio.refusing.add(file);
          const { context } = await failureOf(openLaserPin(options, LASER), 'pin-failed');
          expect(context.missing).to.match(found);
          expect(gpio.released).to.deep.equal([529]);
          expect(gpio.writes.at(-1)).to.equal('value 0');
        },
        line,
      ));
  }
});

describe('interlock pin', () => {
  for (const activeLow of [false, true]) {
    it(`reads the contact, ${activeLow ? 'active-low' : 'active-high'}, and hears of edges`, () =>
      withLine(539, async ({ folder, gpio, options }) => {
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
      }));
  }

  it('is refused without interrupts', () =>
    withLine(539, async ({ gpio, options }) => {
      gpio.refusing.add('edge');
      const { context } = await failureOf(
        openInterlockPin(options, { bcm: 27, activeLow: false }, () => {}),
        'pin-failed',
      );
      expect(gpio.released).to.deep.equal([539]);
      expect(context.missing).to.match(/"edge":"none"/);
    }));
});

describe('what the kernel says of a line', () => {
  const cures = [
    ['EACCES', /usermod -aG gpio/],
    ['EPERM', /usermod -aG gpio/],
    ['EROFS', /ReadWritePaths=/],
    ['EBUSY', /debug\/gpio/],
    ['EINVAL', /a pin that this board has/],
    ['ENOENT', /CONFIG_GPIO_SYSFS/],
    ['EIO', /dmesg/],
  ] as const;
  for (const [code, cure] of cures) {
    it(`${code} has a cure`, () => {
      const cause = Object.assign(new Error(`${code}: recorded, write`), { code, syscall: 'write' });
      const error = lineError(529, 'be exported', cause);
      expect(error.context.missing).to.equal(`GPIO line 529 cannot be exported: ${code}`);
      expect(error.context.cure).to.match(cure);
    });
  }
});
