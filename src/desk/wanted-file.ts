import { randomBytes } from 'node:crypto';
import type { Boot } from '../core/boot.js';
import { sha256 } from '../core/sha256.js';
import { type StateFile, type StateParts, stateFile } from '../storage/state-file.js';
import type { DeskMatch, Wanted } from './state.js';
import { paused } from './step.js';

function newWanted(): Wanted {
  const holder = `desk-${randomBytes(4).toString('hex')}`;
  return { holder, former: [], permits: true, lock: null, match: null, added: [], robots: {} };
}

/**
 * The file of what the referees want. A restarted desk goes on with it under its holder name. After a boot of this machine
 * a running match is paused, because nobody knows for how long the machine was off. A damaged file permits nothing.
 */
export function wantedFile(parts: StateParts, boot: Boot): StateFile<Wanted> {
  /** Moves the times of a match and of locks between the clock of this process and that of the boot. */
  const moved = (wanted: Wanted, way: 1 | -1): Wanted => {
    const byMs = way * (boot.nowMs() - parts.clock.nowMs());
    const { match, lock, robots } = wanted;
    const lockMoved = <L extends Wanted['lock']>(one: L): L =>
      one === null ? one : { ...one, atMs: one.atMs + byMs };
    return {
      ...wanted,
      lock: lockMoved(lock),
      match: match && {
        ...match,
        sinceMs: match.sinceMs + byMs,
        endsAtMs: match.endsAtMs === null ? null : match.endsAtMs + byMs,
      },
      robots: Object.fromEntries(
        Object.entries(robots).map(([name, wish]) => [name, { ...wish, lock: lockMoved(wish.lock) }]),
      ),
    };
  };
  const ofThisBoot = (wanted: Wanted, isSame: boolean): Wanted => {
    if (isSame) return moved(wanted, -1);
    const nowMs = parts.clock.nowMs();
    const now = <L extends Wanted['lock']>(lock: L): L => (lock === null ? lock : { ...lock, atMs: nowMs });
    const { match } = wanted;
    const rested: DeskMatch | null = match && {
      ...match,
      sinceMs: nowMs,
      ...(match.endsAtMs !== null &&
        paused({ ...match, endsAtMs: nowMs }, nowMs, 'the machine of the desk was off')),
    };
    const robots = Object.entries(wanted.robots).map(([name, wish]) => [
      name,
      { ...wish, lock: now(wish.lock) },
    ]);
    return { ...wanted, lock: now(wanted.lock), match: rested, robots: Object.fromEntries(robots) };
  };
  return stateFile<Wanted>(parts, {
    name: 'desk.json',
    encode: wanted => {
      const recorded = { ...moved(wanted, 1), boot: boot.id ?? null };
      return `${JSON.stringify({ recorded, sha256: sha256(JSON.stringify(recorded)) })}\n`;
    },
    decode: text => {
      const { recorded, sha256: sum } = JSON.parse(text);
      if (sum !== sha256(JSON.stringify(recorded))) throw new Error('not a state of a desk');
      // Only this program writes a record with a valid checksum.
      const { boot: recordedBoot, ...wanted } = recorded;
      return ofThisBoot(wanted, recordedBoot !== null && recordedBoot === boot.id);
    },
    absent: newWanted(),
    failSafe: () => ({ ...newWanted(), permits: false }),
  });
}
