import { useSignal } from '@preact/signals';
import type { LogEvent } from '../../schemas/log.js';
import { actsOf, actText } from '../model/log-view.js';
import { clockText } from '../model/numbers.js';
import { offerFile, Press, Segments, scrolls, typed, useModel } from '../parts/parts.js';

const SHOWN = 100;

const FILTERS: Readonly<Record<string, (event: LogEvent) => boolean>> = {
  all: () => true,
  asked: ({ who }) => who !== undefined,
  refused: ({ outcome }) => outcome !== undefined && outcome !== 'done',
  'by itself': ({ who }) => who === undefined,
};

/** The event log, newest first. Each act of a caller, and each change by the robot itself, is one sentence. */
export function EventList() {
  const { events, dropped } = useModel().log;
  const filter = useSignal('all');
  const search = useSignal('');
  const wanted = search.value.toLowerCase();
  const shown = actsOf(events.value)
    .filter(FILTERS[filter.value] ?? (() => true))
    .map(event => ({ event, text: actText(event) }))
    .filter(({ text }) => text.toLowerCase().includes(wanted))
    .reverse();
  const save = () => {
    const lines = shown.map(({ event, text }) => `${event.at} ${text}\n`);
    offerFile('trunnion-log.txt', 'text/plain', lines.join(''));
  };
  return (
    <>
      <div class="row">
        <Segments options={Object.keys(FILTERS)} chosen={filter} />
        <input {...typed(search)} aria-label="Search the log" placeholder="search" />
        <Press text="Export" run={save} />
      </div>
      <ol class="events" {...scrolls}>
        {shown.slice(0, SHOWN).map(({ event, text }) => (
          <li key={event.seq} data-refused={FILTERS.refused?.(event) || undefined}>
            <time dateTime={event.at}>{clockText(event.at)}</time>
            <span>{text}</span>
          </li>
        ))}
      </ol>
      {dropped.value > 0 && <p class="hint">{dropped.value} older events are not kept.</p>}
    </>
  );
}
