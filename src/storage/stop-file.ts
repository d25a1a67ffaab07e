import { join } from 'node:path';
import type { Clock } from '../core/clock.js';
import { isObject } from '../core/json.js';
import { type Disk, START_MS } from './disk.js';
import { StateFile } from './state-file.js';

export const STOP_FILE = 'stop.json';

/**
 * The longest that a stop or a resume waits for the disk. It is in force without the record, but a daemon that starts
 * then may not know of it.
 */
const RECORD_MS = 200;

/**
 * Remembers in the state folder whether the robot is stopped, for a restart at which no controller can say it because
 * the bus hangs or has come off. The record counts within one boot of the machine: a power cut takes the latch from the
 * controllers, too. Resolves when the file was read, or counts as one of a stop.
 */
export async function openStopFile(options: {
  folder: string;
  disk: Disk;
  clock: Clock;
  boot: string;
  setAside?: (copy: string) => void;
}) {
  const { folder, boot, ...parts } = options;
  const file = new StateFile<boolean>({
    ...parts,
    path: join(folder, STOP_FILE),
    codec: {
      encode: stopped => Buffer.from(`${JSON.stringify({ stopped, boot })}\n`),
      decode: content => stoppedIn(content, boot),
    },
    absent: false,
    failSafe: () => true,
  });
  let wanted = false;
  return {
    /** Whether an earlier process of this boot was stopped when it ended. */
    wasStopped: await file.read(START_MS),
    /** Resolves when the medium has it, cannot have it, or is too slow. A disk that failed once is tried again at once. */
    record: (stopped: boolean): Promise<void> => {
      wanted = stopped;
      return file
        .save(wanted, RECORD_MS)
        .catch(() => (file.isStuck ? undefined : file.save(wanted, RECORD_MS)))
        .catch(() => undefined);
    },
    close: () => file.close(),
  };
}

function stoppedIn(content: Buffer, boot: string): boolean | undefined {
  try {
    const value: unknown = JSON.parse(content.toString());
    const { stopped, boot: recorded } = isObject(value) ? value : {};
    const isRecord = typeof stopped === 'boolean' && typeof recorded === 'string';
    return isRecord ? stopped && recorded === boot : undefined;
  } catch {
    return undefined;
  }
}
