import { dirname, join } from 'node:path';
import { isReservedName } from '../access/token.js';
import { decodeTokens, tokenFile } from '../access/token-file.js';
import { healthLines } from '../console/bar/lines.js';
import { JOURNAL_FILE } from '../gains/journal-file.js';
import type { Status } from '../schemas/status.js';
import type { Case, Checks } from './case.js';
import { AS_ROOT, errorCode, type Found, fine, unknown, wrong } from './finding.js';

/** A sync seldom takes more than 10 ms. If syncs take longer than this limit, saves time out. */
const SLOW_SYNC_MS = 500;
const LEAST_FREE_BYTES = 100e6;
const MAKE_ROOM = 'sudo apt clean; sudo journalctl --vacuum-size=50M';

export const STORAGE_CHECKS: Checks = {
  'state folder': async asked => {
    const { folder } = asked.config.state;
    if (asked.status !== undefined) return reported(asked.status, folder);
    if (asked.daemonRuns) return unknown('the daemon has it, and could not be asked');
    const start = asked.simulatedAt ? 'npm start, or trunnion-sim,' : 'sudo systemctl start trunnion';
    return tried(asked, folder).catch((error: unknown) => {
      const code = errorCode(error);
      return (
        failures(folder, start)[code] ??
        wrong(`${folder}: ${code}`, 'dmesg says more; the SD card may be failing')
      );
    });
  },
  tokens: async ({ system, config, status }) => {
    if (status?.access.detail !== undefined)
      return wrong(
        status.access.detail,
        status.storage.ok ? 'sudo trunnion token list says why' : 'See "state folder".',
      );
    try {
      const list = decodeTokens(await system.readFile(tokenFile(config.state.folder)));
      if (list === undefined) return wrong('the list cannot be used', 'sudo trunnion token list says why');
      const reserved = list.map(({ name }) => name).filter(isReservedName);
      if (reserved.length === 0) return fine(`${list.length} in the list`);
      return wrong(
        `the log cannot tell callers without a token from ${reserved.join(', ')}`,
        'sudo trunnion token remove NAME, then sudo trunnion token add with another name',
      );
    } catch (error) {
      const code = errorCode(error);
      return code === 'ENOENT' ? fine('no list') : unknown(`the list cannot be read: ${code}`, AS_ROOT);
    }
  },
  'disk space': async ({ system, config }) => {
    const free = await freeAbove(system, config.state.folder);
    const found = `${Math.round(free / 1e6)} MB free`;
    return free >= LEAST_FREE_BYTES ? fine(found) : wrong(found, MAKE_ROOM);
  },
};

function failures(folder: string, start: string): Readonly<Record<string, Found>> {
  return {
    ENOENT: wrong(`${folder} does not exist`, `${start} makes it, unless its disk is not mounted`),
    EACCES: unknown(`${folder} may not be read by you`, AS_ROOT),
    EROFS: wrong(`${folder} is read-only`, 'sudo mount -o remount,rw /; dmesg says why'),
    ENOSPC: wrong(`${folder} has no room`, MAKE_ROOM),
  };
}

/** Checks owners, and writes and syncs a file. Rejects if the folder cannot be used. */
async function tried({ system, service, user }: Case, folder: string): Promise<Found> {
  const journal = join(folder, JOURNAL_FILE);
  const folderOwner = (await system.stat(folder)).uid;
  const { uid: journalOwner } = await system.stat(journal).catch(() => ({ uid: folderOwner }));
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
}

function reported(status: Status, folder: string): Found {
  const { cure, ...storage } = status.storage;
  const { cure: logCure, ...log } = status.log;
  const lines = healthLines({ ...status, storage, log }).filter(({ about }) =>
    ['Storage', 'Log', 'Match'].includes(about),
  );
  if (lines.length === 0) return fine('the daemon writes and syncs it');
  const found = lines.map(({ about, text }) => `${about}: ${text}`).join(' ');
  return wrong(
    found,
    cure ?? logCure ?? `Look at ${folder}: room, owner, SD card. Move copies of damaged files out of it.`,
  );
}

/** The free bytes of the folder's disk. If the folder is missing, this asks its nearest existing parent. */
async function freeAbove(system: Case['system'], folder: string): Promise<number> {
  return system.freeBytes(folder).catch((error: unknown) => {
    if (errorCode(error) !== 'ENOENT' || folder === dirname(folder)) throw error;
    return freeAbove(system, dirname(folder));
  });
}
