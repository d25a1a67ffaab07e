import type { Status } from '../../core/status.js';

/** What status says of a match, where the daemon knows of matches. */
export interface MatchState {
  readonly phase: string;
  /** In the seconds of telemetry's `t`; null where no time runs. */
  readonly endsAtT: number | null;
  readonly lock: { readonly by: string; readonly reason: string } | null;
  readonly refereeSilent: boolean;
  readonly allows: {
    readonly drive: boolean;
    readonly laser: boolean;
    readonly tune: boolean;
    readonly resume: boolean;
  };
}

export function matchOf(status: Status | undefined): MatchState | undefined {
  return status !== undefined && 'match' in status && isMatch(status.match) ? status.match : undefined;
}

function isMatch(value: unknown): value is MatchState {
  return (
    typeof value === 'object' && value !== null && 'phase' in value && 'allows' in value && 'lock' in value
  );
}

/** `1:05`; never below 0. */
export function countdown(seconds: number): string {
  const left = Math.max(0, Math.ceil(seconds));
  return `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}`;
}
