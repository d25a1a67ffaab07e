import type { Boot } from '../core/boot.js';
import { PHASES } from '../core/phases.js';
import { sha256 } from '../core/sha256.js';
import { bootRecord, recordIn } from '../storage/boot-record.js';
import { type StateFile, type StateParts, stateFile } from '../storage/state-file.js';
import { type MatchState, NO_MATCH } from './match.js';

const REASONS = {
  unreadable: 'The record of lock and match cannot be read',
  damaged: 'The record of lock and match was damaged, or a newer version of Trunnion wrote it',
};

/**
 * The file of lock and match. A match continues after a restart of the daemon. After a system boot it pauses, because
 * the duration of the outage is unknown. An unreadable or damaged file counts as a lock.
 */
export function matchFile(parts: StateParts, boot: Boot): StateFile<MatchState> {
  /** Converts a time from the daemon's clock to the boot's clock, which other processes share, or back. */
  const moved = (atMs: number | null, way: 1 | -1) =>
    atMs === null ? null : atMs + way * (boot.nowMs() - parts.clock.nowMs());
  return stateFile(parts, {
    name: 'match.json',
    encode: state => bootRecord(boot, { ...state, endsAtMs: moved(state.endsAtMs, 1) }),
    decode: text => {
      const { value, isOfBoot } = recordIn<MatchState>(boot, text);
      if (!PHASES.includes(value.phase)) throw new Error('not a record of lock and match');
      const state = named(value);
      if (state.phase === 'none' || state.phase === 'ended' || isOfBoot)
        return { ...state, endsAtMs: moved(state.endsAtMs, -1) };
      return { ...state, phase: 'pause', endsAtMs: null };
    },
    absent: NO_MATCH,
    failSafe: why => ({ ...NO_MATCH, lock: { id: why, by: 'trunnion', reason: REASONS[why] } }),
  });
}

/** Locks of 0.3.0 have no id. The id that such a lock gets is the same at each start. */
function named(state: MatchState): MatchState {
  const { lock } = state;
  return lock === null
    ? state
    : { ...state, lock: { ...lock, id: lock.id ?? sha256(JSON.stringify(lock)).slice(0, 16) } };
}
