import { dirname, join } from 'node:path';
import { UNIT_LIST } from '../core/units.js';
import { JOURNAL_FILE } from '../gains/journal-file.js';
import { parseJournal } from '../gains/journal-line.js';
import type { Case } from './case.js';
import { AS_ROOT, errorCode, type Found, fine, memberOf, unknown, wrong } from './finding.js';

/** A sync seldom takes more than 10 ms. Above this limit, saves time out. */
const SLOW_SYNC_MS = 500;

export async function stateFolder({
  system,
  config,
  status,
  daemonRuns,
  service,
  user,
}: Case): Promise<Found> {
  const { folder } = config.state;
  if (status !== undefined) return reported(status, folder);
  if (daemonRuns) return unknown('the daemon has it, and could not be asked');
  try {
    const folderOwner = (await system.stat(folder)).uid;
    const journal = join(folder, JOURNAL_FILE);
    const journalOwner = await system.stat(journal).then(
      ({ uid }) => uid,
      () => folderOwner,
    );
    if (user.uid !== 0 && (folderOwner !== user.uid || journalOwner !== user.uid)) {
      const path = folderOwner === user.uid ? journal : folder;
      // Without the service, the daemon's user is unknown.
      if (service === undefined) return unknown(`${path} is not ${user.name}'s`, AS_ROOT);
      return wrong(`${path} is not ${user.name}'s`, `sudo chown -R ${user.name}: ${folder}`);
    }
    const syncMs = await system.trySync(folder);
    const found = `${folder} can be written; a sync took ${syncMs.toFixed(1)} ms`;
    return syncMs <= SLOW_SYNC_MS
      ? fine(found)
      : wrong(found, 'Replace the SD card: it is worn out or very slow.');
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT')
      return wrong(
        `${folder} does not exist`,
        'sudo systemctl start trunnion makes it, unless its disk is not mounted',
      );
    if (code === 'EACCES') return unknown(`${folder} is not yours to look at`, AS_ROOT);
    if (code === 'EROFS')
      return wrong(`${folder} is read-only`, 'sudo mount -o remount,rw /; dmesg says why');
    if (code === 'ENOSPC')
      return wrong(`${folder} has no room`, 'sudo apt clean; sudo journalctl --vacuum-size=50M');
    return wrong(`${folder}: ${code}`, 'dmesg says more; the SD card may be failing');
  }
}

function reported(status: unknown, folder: string): Found {
  for (const what of ['storage', 'log']) {
    if (memberOf(status, what, 'ok') !== false) continue;
    const cure = memberOf(status, what, 'cure') ?? `Look at ${folder}.`;
    return wrong(String(memberOf(status, what, 'detail')), String(cure));
  }
  if (memberOf(status, 'match', 'recorded') === false) {
    return wrong(
      'lock and phase of the match do not reach the disk: a power cut would lose them',
      `Look at ${folder}: room, owner, SD card.`,
    );
  }
  const setAside = memberOf(status, 'storage', 'setAside');
  if (Array.isArray(setAside) && setAside.length > 0) {
    return wrong(
      `damaged journals were set aside: ${setAside.join(', ')}`,
      `Look whether saves are missing, then move them out of ${folder}; check the SD card.`,
    );
  }
  return fine('the daemon writes and syncs it');
}

const LEAST_FREE_BYTES = 100e6;

export async function diskSpace({ system, config }: Case): Promise<Found> {
  let { folder } = config.state;
  for (;;) {
    try {
      const free = await system.freeBytes(folder);
      const found = `${Math.round(free / 1e6)} MB free`;
      if (free >= LEAST_FREE_BYTES) return fine(found);
      return wrong(found, 'sudo apt clean; sudo journalctl --vacuum-size=50M');
    } catch (error) {
      if (errorCode(error) !== 'ENOENT' || folder === dirname(folder)) return unknown(errorCode(error));
      folder = dirname(folder);
    }
  }
}

/**
 * Checks that the clock is not before the build of this program or the last save. Boards without a battery start in the
 * past.
 */
export async function clock(asked: Case): Promise<Found> {
  const { system } = asked;
  const made = await system.madeMs();
  const now = system.now;
  const found = `${now.toISOString()}, ${(await isSynchronized(asked)) ? '' : 'not '}synchronized over the network`;
  const cure = "sudo timedatectl set-ntp true, or without network sudo date -s '2030-01-31 12:00'";
  if (now.getTime() < made) return wrong(`${found}: before this program was made`, cure);
  if (now.getTime() < (await lastSaveMs(asked))) return wrong(`${found}: before the last save`, cure);
  return fine(found);
}

async function isSynchronized({ system }: Case): Promise<boolean> {
  try {
    const { stdout } = await system.run('timedatectl', 'show', '--property', 'NTPSynchronized', '--value');
    return stdout.trim() === 'yes';
  } catch {
    return false;
  }
}

async function lastSaveMs({ system, config, status }: Case): Promise<number> {
  const reported = UNIT_LIST.map(unit => memberOf(status, unit.name, 'gains', 'savedAt'));
  const written = await system.readFile(join(config.state.folder, JOURNAL_FILE)).then(
    bytes => parseJournal(bytes).entries.map(({ time }) => time),
    () => [],
  );
  const times = [...reported, ...written]
    .filter(time => typeof time === 'string')
    .map(time => Date.parse(time));
  return times.filter(Number.isFinite).reduce((latest, time) => Math.max(latest, time), 0);
}
