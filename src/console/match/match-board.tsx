import { useModel } from '../parts/parts.js';

/** Phase, time left and lock, big. Nothing if there is no match. */
export function MatchBoard() {
  const model = useModel();
  const match = model.status.value?.match;
  if (match === undefined || (match.phase === 'none' && match.lock === null)) return null;
  return (
    <div class="match-board" role="status" data-locked={match.lock !== null || undefined}>
      {match.phase !== 'none' && <strong>{match.phase === 'auto' ? 'autonomous' : match.phase}</strong>}{' '}
      <TimeLeft endsAtT={match.endsAtT} />
      {match.lock !== null && (
        <span>
          LOCKED by {match.lock.by}: {match.lock.reason}
        </span>
      )}
      {match.refereeSilent && <span>The referee is silent</span>}
    </div>
  );
}

/** `1:05`, and never below 0. */
function TimeLeft({ endsAtT }: { readonly endsAtT: number | null }) {
  const { telemetry } = useModel();
  telemetry.frame.value;
  if (endsAtT === null || telemetry.latest === undefined) return null;
  const left = Math.max(0, Math.ceil(endsAtT - telemetry.latest.t));
  return (
    <span>
      {Math.floor(left / 60)}:{String(left % 60).padStart(2, '0')}
    </span>
  );
}
