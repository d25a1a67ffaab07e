import { checkedJson, fromCheckedJson } from './checked-json.js';
import { START_MS } from './disk.js';
import { type StateParts, stateFile } from './state-file.js';

export const STOP_FILE = 'stop.json';

/**
 * The longest wait for the disk. A stop or resume takes effect without the record, but a restart may not know of it.
 */
const RECORD_MS = 200;

/**
 * Records whether the robot is stopped, for a restart at which no controller answers. The record counts only within
 * one system boot, because a power cut also clears the controllers' latches.
 */
export async function openStopFile(parts: StateParts, boot: string) {
  const file = stateFile<boolean>(parts, {
    name: STOP_FILE,
    encode: stopped => checkedJson({ stopped, boot }),
    decode: text => {
      const { stopped, boot: recorded } = fromCheckedJson(text);
      if (typeof stopped !== 'boolean' || typeof recorded !== 'string') throw new Error('not a stop');
      return stopped && recorded === boot;
    },
    absent: false,
    failSafe: () => true,
  });
  let wanted = false;
  const save = (untilMs: number) => file.save(wanted, untilMs - parts.clock.nowMs());
  return {
    /** Whether an earlier process of this boot ended while the robot was stopped. */
    wasStopped: await file.read(START_MS),
    /** Writes the record. Never rejects. Retries a failed write once. */
    record: async (stopped: boolean): Promise<void> => {
      wanted = stopped;
      const untilMs = parts.clock.nowMs() + RECORD_MS;
      await save(untilMs)
        .catch(() => (file.isStuck ? undefined : save(untilMs)))
        .catch(() => undefined);
    },
    close: () => file.close(),
  };
}
