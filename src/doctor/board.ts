import { join } from 'node:path';
import { UNIT_LIST } from '../core/units.js';
import { JOURNAL_FILE } from '../gains/journal-file.js';
import { parseJournal } from '../gains/journal-line.js';
import type { Case, Checks } from './case.js';
import { type Found, fine, unknown, wrong } from './finding.js';

const CURE_OF_SUPPLY =
  "Use the board's own supply and a short cable; feed motors and servos from another one.";
const CURE_OF_CLOCK = "sudo timedatectl set-ntp true, or without network sudo date -s '2030-01-31 12:00'";

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
    if (now < (await lastSaveMs(asked))) return wrong(`${found}: before the last save`, CURE_OF_CLOCK);
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
  const written = await system.readFile(join(config.state.folder, JOURNAL_FILE)).then(
    bytes => parseJournal(bytes).entries.map(({ time }) => time),
    () => [],
  );
  const times = [...reported, ...written].map(time => Date.parse(String(time)));
  return Math.max(0, ...times.filter(Number.isFinite));
}
