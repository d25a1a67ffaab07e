import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { UNIT_LIST, unitNamed } from '../../core/units.js';
import type { Model } from '../model/model.js';
import { clockText } from '../model/numbers.js';
import { type Act, refusalText } from '../parts/act.js';
import { useConsole } from '../parts/console.js';
import { Doing, doingOf } from './doing.js';
import { type Line, mostUrgentFirst, statusLines } from './lines.js';

/**
 * All complaints, the most urgent always in view in room of its own, so that nothing moves and nothing is covered. A press
 * lays the others over the page below.
 */
export function AlertStrip() {
  const { model } = useConsole();
  const open = useSignal(false);
  const isCut = useSignal(false);
  const list = useRef<HTMLUListElement>(null);
  const lines = linesOf(model);
  const urgent = lines.filter(({ tone }) => tone !== 'note');
  const notes = lines.filter(({ tone }) => tone === 'note');
  const status = model.status.value;
  const restarts = model.log.restarts.value;
  /** What each line is about, in their order. */
  const abouts = [
    ...urgent.map(({ about }) => about),
    ...restarts.map(({ unit }) => (unit === undefined ? '' : unitNamed(unit).title)),
    ...UNIT_LIST.flatMap(unit => doingOf(model, unit)?.map(() => unit.title) ?? []),
    ...notes.map(({ about }) => about),
  ];
  const others = new Set(abouts.slice(1).map(about => about.replace(/[:.]$/, '')));
  useEffect(() => {
    const text = list.current?.querySelector('li span');
    isCut.value = !!text && text.scrollHeight > text.clientHeight + 2;
  });
  return (
    <div class="strip" data-open={open.value || undefined}>
      <div role="alert">
        <ul ref={list}>
          {urgent.map(line => (
            <Alert {...line} key={line.about + line.text} />
          ))}
          {restarts.map(event => (
            <li data-tone="bad" key={event.seq}>
              <span>
                <strong>{event.unit === undefined ? '' : unitNamed(event.unit).title}</strong> restarted{' '}
                {clockText(event.at, new Date())}, now {event.unit && status?.[event.unit].mode}.
              </span>
              <button type="button" onClick={() => model.log.note(event)}>
                Noted
              </button>
            </li>
          ))}
          {UNIT_LIST.map(unit => (
            <Doing key={unit.name} unit={unit} />
          ))}
          {notes.map(line => (
            <Alert {...line} key={line.about + line.text} />
          ))}
        </ul>
      </div>
      {abouts.length === 0 && status !== undefined && <p class="well">All well</p>}
      {abouts.length > 0 && (abouts.length > 1 || isCut.value || open.value) && (
        <button
          type="button"
          class="fold"
          data-tone={urgent[1]?.tone}
          aria-expanded={open.value}
          onClick={() => {
            open.value = !open.value;
          }}
        >
          {open.value ? 'Fold' : abouts.length > 1 ? `${abouts.length - 1} more` : 'More'}
          {!open.value && others.size > 0 && <small>{[...others].join(', ')}</small>}
        </button>
      )}
    </div>
  );
}

function Alert({ tone, about, text }: Line) {
  return (
    <li data-tone={tone}>
      <span>
        <strong>{about}</strong> {text}
      </span>
    </li>
  );
}

function linesOf(model: Model): Line[] {
  const [status, fresh] = [model.status.value, model.fresh.value];
  return mostUrgentFirst([
    ...stopAskLines(model),
    ...(model.resting.value ? [RESTING] : status !== undefined && !fresh ? [STALE] : []),
    ...[model.laser, ...Object.values(model.modes), ...Object.values(model.exciting)].flatMap(refusalLines),
    ...(status === undefined ? [] : statusLines(status)),
  ]);
}

const RESTING: Line = {
  tone: 'bad',
  about: 'Resting',
  text: 'while newer pages are open in this browser. Press anywhere to wake this one.',
};
const STALE: Line = {
  tone: 'bad',
  about: 'No contact with the daemon.',
  text: 'What you see is the last that was heard; it may have changed.',
};

/** A stop without an answer, until status says of itself what came of it. */
function stopAskLines({ stopping, asksAgain, fresh, status }: Model): Line[] {
  if (fresh.value && status.value?.stopped) return [];
  if (asksAgain.value) {
    return [{ tone: 'alarm', about: 'STOP', text: 'sent, asking again… Be ready to cut the power.' }];
  }
  const refusal = stopping.refusal.value;
  if (refusal === undefined) return [];
  const text = `Be ready to cut the power. ${refusalText(refusal)}`;
  return [{ tone: 'alarm', about: 'STOP is not confirmed.', text }];
}

function refusalLines({ title, refusal }: Act): Line[] {
  return refusal.value === undefined ? [] : [{ tone: 'bad', about: title, text: refusalText(refusal.value) }];
}
