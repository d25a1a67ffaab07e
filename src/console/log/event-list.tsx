import { useSignal } from '@preact/signals';
import { UNIT_LIST } from '../../core/units.js';
import type { LogEvent } from '../../schemas/log.js';
import { clockText } from '../model/numbers.js';
import { Segments, scrolls, useModel } from '../parts/parts.js';

const SHOWN = 100;

const FILTERS: Readonly<Record<string, (event: LogEvent) => boolean>> = {
  all: () => true,
  asked: ({ who }) => who !== undefined,
  refused: ({ outcome }) => outcome !== undefined && outcome !== 'done',
  'by itself': ({ who }) => who === undefined,
};

/** The event log, newest first: requests with their callers and outcomes, and what the robot did by itself. */
export function EventList() {
  const model = useModel();
  const filter = useSignal('all');
  const { events, dropped } = model.log;
  const shown = events.value.filter(FILTERS[filter.value] ?? (() => true));
  return (
    <>
      <Segments options={Object.keys(FILTERS)} chosen={filter} />
      <ol class="events" {...scrolls}>
        {shown
          .slice(-SHOWN)
          .reverse()
          .map(event => (
            <li key={event.seq} data-refused={FILTERS.refused?.(event) || undefined}>
              <time dateTime={event.at}>{clockText(event.at, new Date())}</time>
              <span>{eventText(event)}</span>
            </li>
          ))}
      </ol>
      {dropped.value > 0 && <p class="hint">{dropped.value} older events are not kept.</p>}
    </>
  );
}

function eventText({ what, unit, who, outcome, detail = {} }: LogEvent): string {
  const title = UNIT_LIST.find(({ name }) => name === unit)?.title ?? unit;
  const about = title === undefined ? what : `${title} ${what}`;
  const values = Object.entries(detail).map(([name, value]) => `${name} ${value}`);
  return [
    about,
    ...values,
    ...(outcome === undefined ? [] : [outcome]),
    ...(who === undefined ? [] : [`by ${who}`]),
  ].join(' · ');
}
