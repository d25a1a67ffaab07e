import { join } from 'node:path';
import { safetyLines } from '../console/bar/lines.js';
import { isRobotError } from '../core/errors.js';
import { UNIT_LIST } from '../core/units.js';
import { JOURNAL_FILE } from '../gains/journal-file.js';
import { parseJournal } from '../gains/journal-line.js';
import { lineNumber } from '../hardware/gpio-chip.js';
import { GPIO_ROOT } from '../hardware/linux-hardware.js';
import type { Status } from '../schemas/status.js';
import { type Case, type Checks, mayUse } from './case.js';
import { AS_ROOT, type Found, fine, unknown, wrong } from './finding.js';

const NOT_FOUND = unknown('not found: see "gpio"');

export const PIN_CHECKS: Checks = {
  gpio: async ({ system, config }) => {
    try {
      const chip = await system.headerChip();
      const { gpio: laser, interlock } = config.laser;
      const lines = [`laser BCM ${laser} is line ${lineNumber(chip, laser)}`];
      if (interlock !== null)
        lines.push(`interlock BCM ${interlock.gpio} is line ${lineNumber(chip, interlock.gpio)}`);
      return fine(`${chip.label} from ${chip.base}; ${lines.join(', ')}`);
    } catch (error) {
      if (!isRobotError(error, 'pin-failed')) throw error;
      const { missing = 'the pin does not obey', cure = 'Check its wiring.' } = error.context;
      return wrong(missing, cure);
    }
  },
  'gpio access': asked => mayUse(asked, `${GPIO_ROOT}/export`, 0o2, 'gpio'),
  'laser pin': laserPin,
  'interlock pin': async asked => {
    const { interlock } = asked.config.laser;
    if (interlock === null) return fine('none is configured');
    if (asked.daemonRuns) return fine('the daemon has it; "laser pin" would say what is wrong with it');
    const line = await lineOf(asked, interlock.gpio);
    return line === undefined ? NOT_FOUND : holder(asked, line);
  },
};

/** Checks the laser's pin. Asks the daemon if one runs. Otherwise the pin must be free and dark. */
async function laserPin(asked: Case): Promise<Found> {
  const { status, daemonRuns, config } = asked;
  const { gpio, activeLow } = config.laser;
  if (status !== undefined) return reported(status);
  if (daemonRuns) return unknown('the daemon has it, and could not be asked');
  const line = await lineOf(asked, gpio);
  if (line === undefined) return NOT_FOUND;
  const level = await levelOf(asked, line).catch(() => undefined);
  if (level === (activeLow ? 0 : 1)) {
    const dark = activeLow ? 'high' : 'low';
    return wrong(
      'the laser is lit, and no daemon runs',
      `echo ${dark} | sudo tee ${GPIO_ROOT}/gpio${line}/direction`,
    );
  }
  return holder(asked, line);
}

function reported(status: Status): Found {
  const [line] = safetyLines({ ...status, stopped: false }, true).filter(({ tone }) => tone !== 'note');
  if (line === undefined) return fine(`the daemon has it; the laser is ${status.laser.state}`);
  return wrong(
    `${line.about} ${line.text}`,
    'See "gpio" and "gpio access"; the daemon tries again by itself.',
  );
}

/** Undefined if the board has no such line. The check "gpio" says why. */
async function lineOf({ system }: Case, bcm: number): Promise<number | undefined> {
  const finding = system.headerChip().then(chip => lineNumber(chip, bcm));
  return finding.catch(() => undefined);
}

/** The level of an exported output. Undefined for any other line. */
async function levelOf({ system }: Case, line: number): Promise<number | undefined> {
  const text = async (file: string) =>
    (await system.readFile(`${GPIO_ROOT}/gpio${line}/${file}`)).toString().trim();
  if ((await text('direction')) !== 'out') return undefined;
  const level = Number(await text('value'));
  return (await text('active_low')) === '1' ? 1 - level : level;
}

/** Parses ` gpio-529 (GPIO17              |sysfs               ) out lo`. The second name is the line's user. */
async function holder({ system }: Case, line: number): Promise<Found> {
  const table = await system.readFile('/sys/kernel/debug/gpio').catch(() => undefined);
  if (table === undefined) return unknown(`only root can see who has line ${line}`, AS_ROOT);
  const row = new RegExp(`^\\s*gpio-${line}\\s*\\([^|)]*\\|([^)]*)\\)`, 'm').exec(table.toString());
  const who = row?.[1]?.trim() ?? '';
  if (who === '' || who === 'sysfs') return fine(`line ${line} is free`);
  return wrong(
    `line ${line} is held by ${who}`,
    'End that program, remove its dtoverlay, or set another laser.gpio.',
  );
}

const CURE_OF_SUPPLY =
  "Use the board's own supply and a short cable; feed motors and servos from another one.";
const CURE_OF_CLOCK = "sudo timedatectl set-ntp true, or without network sudo date -s 'YYYY-MM-DD HH:MM'";

export const BOARD_CHECKS: Checks = {
  supply: async ({ system }) =>
    (await supplyByFirmware(system).catch(() => undefined)) ??
    (await supplyByKernel(system).catch(() => undefined)) ??
    unknown('the board has no such sensor'),
  // The clock of a board without a battery starts in the past.
  clock: async asked => {
    const { system } = asked;
    const now = system.now.getTime();
    const isSynchronized = await isClockSynchronized(system).catch(() => false);
    const found = `${system.now.toISOString()}, ${isSynchronized ? '' : 'not '}synchronized over the network`;
    if (now < (await system.madeMs())) return wrong(`${found}: before this program was made`, CURE_OF_CLOCK);
    // The board's clock may have been ahead at a save.
    if (!isSynchronized && now < (await lastSaveMs(asked)))
      return wrong(`${found}: before the last save`, CURE_OF_CLOCK);
    return fine(found);
  },
};

/** Parses `throttled=0x50005`. Bit 0: under-voltage now. Bit 16: under-voltage since boot. */
async function supplyByFirmware(system: Case['system']): Promise<Found | undefined> {
  const text = await system.run('vcgencmd', 'get_throttled');
  const [, bits] = /^throttled=(0x[0-9a-f]+)$/im.exec(text) ?? [];
  if (bits === undefined) return undefined;
  if (Number(bits) & 1) return wrong('under-voltage now', CURE_OF_SUPPLY);
  if (Number(bits) & (1 << 16)) return wrong('under-voltage since boot', CURE_OF_SUPPLY);
  return fine('no under-voltage since boot');
}

async function supplyByKernel(system: Case['system']): Promise<Found | undefined> {
  const root = '/sys/class/hwmon';
  const text = async (...path: readonly string[]) =>
    (await system.readFile(join(root, ...path))).toString().trim();
  for (const name of await system.list(root)) {
    if ((await text(name, 'name').catch(() => '')) !== 'rpi_volt') continue;
    const alarm = await text(name, 'in0_lcrit_alarm');
    return alarm === '1' ? wrong('under-voltage', CURE_OF_SUPPLY) : fine('no under-voltage');
  }
  return undefined;
}

async function isClockSynchronized(system: Case['system']): Promise<boolean> {
  return (
    (await system.run('timedatectl', 'show', '--property', 'NTPSynchronized', '--value')).trim() === 'yes'
  );
}

async function lastSaveMs({ system, config, status }: Case): Promise<number> {
  const reported = UNIT_LIST.map(({ name }) => status?.[name].gains.savedAt);
  const journal = await system.readFile(join(config.state.folder, JOURNAL_FILE)).catch(() => Buffer.alloc(0));
  const written = parseJournal(journal).entries.map(({ time }) => time);
  const times = [...reported, ...written].map(time => Date.parse(String(time)));
  return Math.max(0, ...times.filter(Number.isFinite));
}
