import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { defaultConfig } from '../../src/default-config.js';
import { SETTINGS } from '../../src/settings.js';

const SCRIPT = 'systemd/trunnion-dark';

describe('trunnion-dark', () => {
  let root: string;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'trunnion-dark-'));
  });

  afterEach(() => {
    rmSync(root, { recursive: true });
  });

  function file(path: string, content: string | number): void {
    const full = join(root, path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, `${content}\n`);
  }

  function chip(name: string, label: string, base: number): void {
    file(`sys/class/gpio/${name}/label`, label);
    file(`sys/class/gpio/${name}/base`, base);
  }

  const direction = (line: number) =>
    readFileSync(join(root, `sys/class/gpio/gpio${line}/direction`), 'utf8').trim();

  function darken(): { status: number | null; stderr: string } {
    return spawnSync('sh', [SCRIPT, root], { encoding: 'utf8', env: { PATH: '/usr/bin:/bin' } });
  }

  const BOARDS = [
    { board: 'Pi 3', label: 'pinctrl-bcm2835', base: 512 },
    { board: 'Pi 4', label: 'pinctrl-bcm2711', base: 512 },
    { board: 'Pi 5', label: 'pinctrl-rp1', base: 571 },
    { board: 'Pi 5, older kernel', label: 'pinctrl-rp1', base: 399 },
    { board: 'kernel before 6.6', label: 'pinctrl-bcm2835', base: 0 },
  ];
  for (const { board, label, base } of BOARDS) {
    it(`puts BCM 17 low: ${board}`, () => {
      chip(`gpiochip${base}`, label, base);
      chip('gpiochip900', 'raspberrypi-exp-gpio', 900);
      file(`sys/class/gpio/gpio${base + 17}/direction`, 'out');
      expect(darken()).to.include({ status: 0, stderr: '' });
      expect(direction(base + 17)).to.equal('low');
    });
  }

  const CONFIGS = [
    { what: 'another pin', yaml: 'laser:\n  gpio: 22 # driver enable\n', line: 22, level: 'low' },
    {
      what: 'active-low',
      yaml: 'http:\n  port: 80\nlaser:\n  gpio: 4\n  activeLow: true\n',
      line: 4,
      level: 'high',
    },
    { what: 'quotes', yaml: '"laser":\n    "activeLow":  true\n    "gpio": "5"\n', line: 5, level: 'high' },
    {
      what: 'braces',
      yaml: 'laser: { activeLow: true, interlock: { gpio: 9 }, gpio: 6 } # x\n',
      line: 6,
      level: 'high',
    },
    { what: 'comments only', yaml: 'laser:\n  # gpio: 22\n#  activeLow: true\n', line: 17, level: 'low' },
    {
      what: 'pins of others',
      yaml: 'laser:\n  interlock:\n    gpio: 9\nother:\n  gpio: 8\n',
      line: 17,
      level: 'low',
    },
    { what: 'a file that is no YAML', yaml: '\0\u0001{{{', line: 17, level: 'low' },
  ];
  for (const { what, yaml, line, level } of CONFIGS) {
    it(`reads a configuration with ${what}`, () => {
      file('etc/trunnion/config.yaml', yaml);
      chip('gpiochip512', 'pinctrl-bcm2711', 512);
      file(`sys/class/gpio/gpio${512 + line}/direction`, 'in');
      expect(darken().status).to.equal(0);
      expect(direction(512 + line)).to.equal(level);
    });
  }

  it('exports a pin that nobody has opened yet', () => {
    chip('gpiochip512', 'pinctrl-bcm2711', 512);
    file('sys/class/gpio/export', '');
    // a folder of files stands in for the kernel: it does not answer the export, so the script gives up after a second
    expect(darken().status).to.equal(1);
    expect(readFileSync(join(root, 'sys/class/gpio/export'), 'utf8')).to.equal('529\n');
  });

  it('touches no pin when the configuration names none it can read', () => {
    file('etc/trunnion/config.yaml', 'laser:\n  gpio: GPIO17\n');
    chip('gpiochip0', 'pinctrl-bcm2835', 0);
    file('sys/class/gpio/gpio17/direction', 'in');
    expect(darken()).to.include({ status: 1 });
    expect(direction(17)).to.equal('in');
  });

  it('has the defaults of the daemon', () => {
    file('etc/trunnion/config.yaml', defaultConfig());
    chip('gpiochip512', 'pinctrl-bcm2711', 512);
    const line = 512 + SETTINGS.laser.gpio.default;
    file(`sys/class/gpio/gpio${line}/direction`, 'in');
    expect(darken().status).to.equal(0);
    expect(direction(line)).to.equal(SETTINGS.laser.activeLow.default ? 'high' : 'low');
  });

  it('touches no pin when two chips match', () => {
    chip('gpiochip0', 'pinctrl-bcm2835', 0);
    chip('gpiochip512', 'pinctrl-bcm2711', 512);
    file('sys/class/gpio/gpio17/direction', 'in');
    const { status, stderr } = darken();
    expect(status).to.equal(0);
    expect(stderr).to.contain('two chips');
    expect(direction(17)).to.equal('in');
  });

  it('is content where there is no GPIO', () => {
    expect(darken().status).to.equal(0);
  });
});
