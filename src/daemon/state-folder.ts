import { existsSync } from 'node:fs';
import { Access } from '../access/access.js';
import type { Config } from '../config/config.js';
import type { Boot } from '../core/boot.js';
import type { Clock } from '../core/clock.js';
import { DurableLog } from '../events/durable-log.js';
import { GainsStore } from '../gains/gains-store.js';
import { MatchRecord } from '../match/match-record.js';
import type { Disk } from '../storage/disk.js';
import type { ProcessLock } from '../storage/path-lock.js';
import { SilenceRecord } from '../storage/silence-record.js';
import { StopRecord } from '../storage/stop-record.js';

/**
 * Opens what the state folder keeps and a robot needs before it moves. A disk that is too slow is not waited for: what it
 * has not given counts as that which forbids most. Rejects with `state-in-use`.
 */
export async function openStateFolder(options: {
  config: Config;
  disk: Disk;
  lock: ProcessLock | undefined;
  clock: Clock;
  boot: Boot;
  runId: string;
  isSimulated: boolean;
}) {
  const { config, disk, lock, clock, boot, runId, isSimulated } = options;
  const { folder } = config.state;
  const store = await GainsStore.open({ folder, clock, disk, lock });
  const access = new Access({ disk, folder, clock, ...config.access });
  const matchRecord = new MatchRecord({ disk, folder, clock, boot });
  const durableLog = new DurableLog({ disk, folder, clock, runId, isSynchronised: isClockSynchronised });
  // These are read at the same time, since each waits for the disk. A simulated robot is another one at each start, so
  // it has no stop to remember.
  const [silenceRecord, stopRecord, matchState] = await Promise.all([
    SilenceRecord.open({ folder, disk, clock }),
    isSimulated || boot.id === undefined
      ? undefined
      : StopRecord.open({ folder, disk, clock, boot: boot.id }),
    matchRecord.load(),
    access.open(),
    durableLog.open(),
  ]);
  return { store, access, matchRecord, matchState, durableLog, silenceRecord, stopRecord };
}

/**
 * Whether systemd's time service has set the clock. With another time service nobody can see that from within the
 * sandbox, and the answer is no.
 */
function isClockSynchronised(): boolean {
  return existsSync('/run/systemd/timesync/synchronized');
}
