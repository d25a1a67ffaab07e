import { matchEvents } from '../model/match-events.js';
import { clockText } from '../model/numbers.js';
import { useModel } from '../parts/parts.js';

export function MatchEvents() {
  const { log, clock } = useModel();
  const now = clock.wallTime();
  return (
    <ol class="events of-match" aria-label="Last events">
      {matchEvents(log.events.value).map(({ event: { seq, at }, text }) => (
        <li key={seq}>
          <time dateTime={at}>{clockText(at, now)}</time>
          <span>{text}</span>
        </li>
      ))}
    </ol>
  );
}
