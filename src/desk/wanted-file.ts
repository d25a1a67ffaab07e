import { randomBytes } from 'node:crypto';
import type { Boot } from '../core/boot.js';
import { type BootRecord, bootRecord, recordIn } from '../storage/boot-record.js';
import { type StateFile, type StateParts, stateFile } from '../storage/state-file.js';
import { permitsNothingMs } from './judge.js';
import { type DeskLock, paused, type Wanted } from './state.js';

function newWanted(): Wanted {
  const holder = `desk-${randomBytes(4).toString('hex')}`;
  return { holder, former: [], permits: true, lock: null, match: null, added: [], robots: {} };
}

/** Puts each time of a match and of locks through `to`. */
function withTimes(wanted: Wanted, to: (ms: number) => number): Wanted {
  const { match, robots } = wanted;
  const moved = (lock: DeskLock | null) => lock && { ...lock, atMs: to(lock.atMs) };
  const wishes = Object.entries(robots).map(([name, wish]) => [name, { ...wish, lock: moved(wish.lock) }]);
  return {
    ...wanted,
    lock: moved(wanted.lock),
    match: match && {
      ...match,
      sinceMs: to(match.sinceMs),
      endsAtMs: match.endsAtMs === null ? null : to(match.endsAtMs),
    },
    robots: Object.fromEntries(wishes),
  };
}

/**
 * The file of what the referees want. A restarted desk goes on with it under its holder name. After a boot of this machine
 * a running match is paused, because nobody knows for how long the machine was off. A damaged file permits nothing.
 */
export function wantedFile(parts: StateParts, boot: Boot): StateFile<Wanted> {
  /** How far the clock of the boot is ahead of that of this process. */
  const aheadMs = () => boot.nowMs() - parts.clock.nowMs();
  const ofThisBoot = ({ value, isOfBoot }: BootRecord<Wanted>): Wanted => {
    const byMs = aheadMs();
    const nowMs = parts.clock.nowMs();
    const here = withTimes(value, isOfBoot ? ms => ms - byMs : () => nowMs);
    const { match } = here;
    if (isOfBoot || match === null) return here;
    if (match.endsAtMs === null) return { ...here, match: { ...match, sinceMs: permitsNothingMs(nowMs) } };
    const rested = paused(match, nowMs, 'the machine of the desk was off');
    return { ...here, match: { ...rested, leftS: null } };
  };
  return stateFile<Wanted>(parts, {
    name: 'desk.json',
    encode: wanted => {
      const byMs = aheadMs();
      const onBoot = withTimes(wanted, ms => ms + byMs);
      return bootRecord(boot, onBoot);
    },
    decode: text => ofThisBoot(recordIn<Wanted>(boot, text)),
    absent: newWanted(),
    failSafe: () => ({ ...newWanted(), permits: false }),
  });
}
