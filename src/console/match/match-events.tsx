import { matchEvents } from '../model/match-events.js';
import { clockText } from '../model/numbers.js';
import { useModel } from '../parts/parts.js';

export function MatchEvents() {
  const { log } = useModel();
  return (
    <ol class="events of-match" aria-label="Last events">
      {matchEvents(log.events.value).map(({ event: { seq, at }, text }) => (
        <li key={seq}>
          <time dateTime={at}>{clockText(at)}</time>
          <span>{text}</span>
        </li>
      ))}
    </ol>
  );
}
