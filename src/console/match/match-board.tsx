import { useConsole } from '../parts/console.js';
import { countdown, type MatchState } from './match-status.js';

/** Phase, time left and lock, big. Nothing where there is no match. */
export function MatchBoard() {
  const { model } = useConsole();
  const match = model.match.value;
  if (match === undefined || (match.phase === 'none' && match.lock === null)) return null;
  return (
    <div class="match-board" role="status" data-locked={match.lock !== null || undefined}>
      {match.phase !== 'none' && <strong>{match.phase}</strong>} <TimeLeft match={match} />
      {match.lock !== null && (
        <span>
          LOCKED by {match.lock.by}: {match.lock.reason}
        </span>
      )}
      {match.refereeSilent && <span>The referee is silent</span>}
    </div>
  );
}

function TimeLeft({ match: { endsAtT } }: { readonly match: MatchState }) {
  const { model } = useConsole();
  model.telemetry.frame.value;
  const nowT = model.telemetry.latest?.t;
  if (endsAtT === null || nowT === undefined) return null;
  return <span class="countdown">{countdown(endsAtT - nowT)}</span>;
}
