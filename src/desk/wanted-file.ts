import { randomBytes } from 'node:crypto';
import type { Boot } from '../core/boot.js';
import { bootRecord, recordIn } from '../storage/boot-record.js';
import { type StateFile, type StateParts, stateFile } from '../storage/state-file.js';
import { type DeskLock, paused, permitsNothing, type Wanted } from './state.js';

function newWanted(): Wanted {
  const holder = `desk-${randomBytes(4).toString('hex')}`;
  return { holder, former: [], permits: true, lock: null, match: null, added: [], robots: {} };
}

/** What is still wanted after a boot of the machine. No time from before it means anything. */
function afterBoot(wanted: Wanted, nowMs: number): Wanted {
  const { lock, match, robots } = wanted;
  const dated = (lock: DeskLock | null) => lock && { ...lock, atMs: nowMs };
  const wishes = Object.entries(robots).map(([name, wish]) => [name, { ...wish, lock: dated(wish.lock) }]);
  const ofNow = match && { ...match, ...permitsNothing(nowMs) };
  const isRunning = ofNow !== null && ofNow.endsAtMs !== null;
  // Nobody knows for how long the machine was off.
  const rested = isRunning
    ? { ...paused(ofNow, nowMs, 'the machine of the desk was off'), leftS: null }
    : ofNow;
  return { ...wanted, lock: dated(lock), match: rested, robots: Object.fromEntries(wishes) };
}

/**
 * The file of what the referees want. A restarted desk goes on with it under its holder name. After a boot of this machine
 * a running match is paused. A damaged file permits nothing. The clock must be that of the boot.
 */
export function wantedFile(parts: StateParts, boot: Boot): StateFile<Wanted> {
  return stateFile<Wanted>(parts, {
    name: 'desk.json',
    encode: wanted => bootRecord(boot, wanted),
    decode: text => {
      const { value, isOfBoot } = recordIn<Wanted>(boot, text);
      return isOfBoot ? value : afterBoot(value, parts.clock.nowMs());
    },
    absent: newWanted(),
    failSafe: () => ({ ...newWanted(), permits: false }),
  });
}
