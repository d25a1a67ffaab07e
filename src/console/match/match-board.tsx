import type { Phase } from '../../core/phases.js';
import { useModel } from '../parts/parts.js';

/** The name of the match, phase, time left and lock in large letters. Empty if there is no match. */
export function MatchBoard() {
  const match = useModel().status.value?.match;
  if (match === undefined || (match.phase === 'none' && match.lock === null)) return null;
  return (
    <div class="match-board row" role="status" data-locked={match.lock !== null || undefined}>
      {match.phase !== 'none' && (
        <>
          <span class="match-name cut">{match.id}</span> <strong>{phaseText(match.phase)}</strong>
        </>
      )}{' '}
      <TimeLeft endsAtT={match.endsAtT} />
      {match.lock !== null && (
        <span class="said clamp">
          LOCKED by {match.lock.by}: {match.lock.reason}
        </span>
      )}
      {match.refereeSilent && <span class="said clamp">The referee is silent</span>}
    </div>
  );
}

/** `auto` is also a mode, so the phase is called autonomous. */
export const phaseText = (phase: Phase) => (phase === 'auto' ? 'autonomous' : phase);

/** Formats seconds as `1:05`. A negative time becomes `0:00`. */
export function minutesText(seconds: number): string {
  const left = Math.max(0, Math.ceil(seconds));
  return `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}`;
}

function TimeLeft({ endsAtT }: { readonly endsAtT: number | null }) {
  const { shown } = useModel().telemetry;
  if (endsAtT === null || shown === undefined) return null;
  return <span class="clock">{minutesText(endsAtT - shown.t)}</span>;
}
