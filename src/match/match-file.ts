import type { Boot } from '../core/boot.js';
import { PHASES, type Phase } from '../core/phases.js';
import { sha256 } from '../core/sha256.js';
import { StateFile, type StateParts } from '../storage/state-file.js';
import { type Lock, type MatchCall, type MatchState, NO_MATCH } from './match.js';

/** The state in terms that another process of the same boot understands. */
interface Recorded {
  readonly lock: Lock | null;
  readonly call: MatchCall | null;
  readonly phase: Phase;
  readonly boot: string | null;
  /** Milliseconds on the clock of the boot. */
  readonly endsAtMs: number | null;
}

const REASONS = {
  unreadable: 'The record of lock and match cannot be read.',
  damaged: 'The record of lock and match was damaged, or a newer version of Trunnion wrote it.',
};

/**
 * The file of lock and match. A match continues after a restart of the daemon. After a system boot it pauses, because the
 * time that passed is unknown. An unreadable or damaged file counts as a lock.
 */
export function matchFile(parts: StateParts, boot: Boot): StateFile<MatchState> {
  const sinceBootMs = () => boot.nowMs() - parts.clock.nowMs();
  return new StateFile(parts, {
    name: 'match.json',
    encode: ({ lock, call, phase, endsAtMs }) =>
      withChecksum({
        lock,
        call,
        phase,
        boot: boot.id ?? null,
        endsAtMs: endsAtMs === null ? null : endsAtMs + sinceBootMs(),
      }),
    decode: text => {
      const { lock, call, phase, endsAtMs, boot: recorded } = recordedIn(text);
      if (phase === 'none' || phase === 'ended' || (recorded !== null && recorded === boot.id))
        return { lock, call, phase, endsAtMs: endsAtMs === null ? null : endsAtMs - sinceBootMs() };
      return { lock, call, phase: 'pause', endsAtMs: null };
    },
    absent: NO_MATCH,
    failSafe: why => ({ ...NO_MATCH, lock: { by: 'trunnion', reason: REASONS[why] } }),
  });
}

function withChecksum(recorded: Recorded): string {
  return `${JSON.stringify({ recorded, sha256: sha256(JSON.stringify(recorded)) })}\n`;
}

/** Checks no members: a record with a valid checksum was written by this program. */
function recordedIn(text: string): Recorded {
  const { recorded, sha256: sum } = JSON.parse(text);
  if (sum === sha256(JSON.stringify(recorded)) && PHASES.includes(recorded.phase)) return recorded;
  throw new Error('not a record of lock and match');
}
