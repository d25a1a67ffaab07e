import { isObject } from '../core/json.js';
import { START_MS } from './disk.js';
import { StateFile, type StateParts } from './state-file.js';

export const STOP_FILE = 'stop.json';

/**
 * The longest that a stop or a resume waits for the disk. It is in force without the record, but a daemon that starts
 * then may not know of it.
 */
const RECORD_MS = 200;

/**
 * Remembers in the state folder whether the robot is stopped, for a restart at which no controller can say it because
 * the bus hangs or has come off. The record counts within one boot of the machine: a power cut takes the latch from the
 * controllers, too.
 */
export async function openStopFile(parts: StateParts, boot: string) {
  const file = new StateFile<boolean>(parts, {
    name: STOP_FILE,
    encode: stopped => `${JSON.stringify({ stopped, boot })}\n`,
    decode: text => {
      const value: unknown = JSON.parse(text);
      const { stopped, boot: recorded } = isObject(value) ? value : {};
      if (typeof stopped !== 'boolean' || typeof recorded !== 'string') throw new Error('not a stop');
      return stopped && recorded === boot;
    },
    absent: false,
    failSafe: () => true,
  });
  let wanted = false;
  const save = () => file.save(wanted, RECORD_MS);
  return {
    /** Whether an earlier process of this boot was stopped when it ended. */
    wasStopped: await file.read(START_MS),
    /** Resolves when the medium has it, cannot have it, or is too slow. A disk that failed is tried again once. */
    record: async (stopped: boolean): Promise<void> => {
      wanted = stopped;
      await save()
        .catch(() => (file.isStuck ? undefined : save()))
        .catch(() => undefined);
    },
    close: () => file.close(),
  };
}
