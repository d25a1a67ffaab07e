import { existsSync } from 'node:fs';
import { Access } from '../access/access.js';
import type { Config } from '../config/config.js';
import type { Boot } from '../core/boot.js';
import { DurableLog } from '../events/durable-log.js';
import { GainsStore } from '../gains/gains-store.js';
import { matchFile } from '../match/match-file.js';
import { START_MS } from '../storage/disk.js';
import type { ProcessLock } from '../storage/path-lock.js';
import { silenceFile } from '../storage/silence-file.js';
import type { StateParts } from '../storage/state-file.js';
import { openStopFile } from '../storage/stop-file.js';

interface Options {
  readonly config: Config;
  readonly lock: ProcessLock | undefined;
  readonly boot: Boot;
  readonly runId: string;
  readonly isSimulated: boolean;
}

/**
 * Reads the files that the robot needs before it moves. A file that is not read in time counts as its most restrictive
 * value. Rejects with `state-in-use`.
 */
export async function openStateFolder(
  parts: StateParts,
  { config, lock, boot, runId, isSimulated }: Options,
) {
  const store = await GainsStore.open({ ...parts, lock });
  const access = new Access({ ...parts, ...config.access });
  const match = matchFile(parts, boot);
  const silences = silenceFile(parts);
  const durableLog = new DurableLog({ ...parts, runId, isSynchronised: isClockSynchronised });
  // Read in parallel, because each may wait for a slow disk. A simulated robot is new at each start, so it remembers no stop.
  const [stopFile, matchState] = await Promise.all([
    isSimulated || boot.id === undefined ? undefined : openStopFile(parts, boot.id),
    match.read(START_MS),
    silences.read(START_MS),
    access.open(),
    durableLog.open(),
  ]);
  return { store, access, matchFile: match, matchState, durableLog, silences, stopFile };
}

/** Whether systemd's time service has set the clock. False with another time service, because the sandbox hides it. */
function isClockSynchronised(): boolean {
  return existsSync('/run/systemd/timesync/synchronized');
}
