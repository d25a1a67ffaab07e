import type { Boot } from '../core/boot.js';
import { PHASES } from '../core/phases.js';
import { sha256 } from '../core/sha256.js';
import { type StateFile, type StateParts, stateFile } from '../storage/state-file.js';
import { type MatchState, NO_MATCH } from './match.js';

/** The state in terms that another process of the same boot understands: `endsAtMs` is on the clock of the boot. */
type Recorded = MatchState & { readonly boot: string | null };

const REASONS = {
  unreadable: 'The record of lock and match cannot be read',
  damaged: 'The record of lock and match was damaged, or a newer version of Trunnion wrote it',
};

/**
 * The file of lock and match. A match continues after a restart of the daemon. After a system boot it pauses, because
 * the duration of the outage is unknown. An unreadable or damaged file counts as a lock.
 */
export function matchFile(parts: StateParts, boot: Boot): StateFile<MatchState> {
  /** Converts a time from the daemon's clock to the boot's clock, or back. */
  const moved = (atMs: number | null, way: 1 | -1) =>
    atMs === null ? null : atMs + way * (boot.nowMs() - parts.clock.nowMs());
  return stateFile(parts, {
    name: 'match.json',
    encode: state => withChecksum({ ...state, boot: boot.id ?? null, endsAtMs: moved(state.endsAtMs, 1) }),
    decode: text => {
      const { boot: recorded, ...state } = named(recordedIn(text));
      const isOfBoot = recorded !== null && recorded === boot.id;
      if (state.phase === 'none' || state.phase === 'ended' || isOfBoot)
        return { ...state, endsAtMs: moved(state.endsAtMs, -1) };
      return { ...state, phase: 'pause', endsAtMs: null };
    },
    absent: NO_MATCH,
    failSafe: why => ({ ...NO_MATCH, lock: { id: why, by: 'trunnion', reason: REASONS[why] } }),
  });
}

function withChecksum(recorded: Recorded): string {
  return `${JSON.stringify({ recorded, sha256: sha256(JSON.stringify(recorded)) })}\n`;
}

/** Locks of 0.3.0 have no id. The id that such a lock gets is the same at each start. */
function named(recorded: Recorded): Recorded {
  const { lock } = recorded;
  return lock === null
    ? recorded
    : { ...recorded, lock: { ...lock, id: lock.id ?? sha256(JSON.stringify(lock)).slice(0, 16) } };
}

/** The members are not checked: only this program writes a record with a valid checksum. */
function recordedIn(text: string): Recorded {
  const { recorded, sha256: sum } = JSON.parse(text);
  if (sum === sha256(JSON.stringify(recorded)) && PHASES.includes(recorded.phase)) return recorded;
  throw new Error('not a record of lock and match');
}
