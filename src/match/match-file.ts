import { join } from 'node:path';
import type { Boot } from '../core/boot.js';
import type { Clock } from '../core/clock.js';
import { PHASES, type Phase } from '../core/phases.js';
import { sha256 } from '../core/sha256.js';
import type { Disk } from '../storage/disk.js';
import { type Codec, StateFile } from '../storage/state-file.js';
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

/** Lock and match in the state folder. If nobody can know what the file says, only a referee's unlock lets the robot go. */
export function matchFile(options: {
  disk: Disk;
  folder: string;
  clock: Clock;
  boot: Boot;
  setAside: (copy: string) => void;
}): StateFile<MatchState> {
  const { disk, folder, clock, boot, setAside } = options;
  return new StateFile({
    disk,
    clock,
    setAside,
    path: join(folder, 'match.json'),
    codec: matchCodec(clock, boot),
    absent: NO_MATCH,
    failSafe: why => ({ ...NO_MATCH, lock: { by: 'trunnion', reason: REASONS[why] } }),
  });
}

/**
 * A match goes on after a restart of the daemon. After a reboot it pauses, since nobody knows how long the reboot took.
 */
function matchCodec(clock: Clock, boot: Boot): Codec<MatchState> {
  const sinceBootMs = () => boot.nowMs() - clock.nowMs();
  return {
    encode: ({ endsAtMs, ...state }) =>
      withChecksum({
        lock: state.lock,
        call: state.call,
        phase: state.phase,
        boot: boot.id ?? null,
        endsAtMs: endsAtMs === null ? null : endsAtMs + sinceBootMs(),
      }),
    decode: content => {
      const recorded = recordedIn(content);
      if (recorded === undefined) return undefined;
      const { lock, call, phase, endsAtMs } = recorded;
      const isSameBoot = recorded.boot !== null && recorded.boot === boot.id;
      if (!isSameBoot && phase !== 'none' && phase !== 'ended')
        return { lock, call, phase: 'pause', endsAtMs: null };
      return { lock, call, phase, endsAtMs: endsAtMs === null ? null : endsAtMs - sinceBootMs() };
    },
  };
}

function withChecksum(recorded: Recorded): Buffer {
  const sum = sha256(JSON.stringify(recorded));
  return Buffer.from(`${JSON.stringify({ recorded, sha256: sum })}\n`);
}

/** With a right checksum the record was written by us, so that its members are what they should be. */
function recordedIn(content: Buffer): Recorded | undefined {
  try {
    const { recorded, sha256: sum } = JSON.parse(content.toString());
    const isOurs = sum === sha256(JSON.stringify(recorded)) && PHASES.includes(recorded.phase);
    return isOurs ? recorded : undefined;
  } catch {
    return undefined;
  }
}
