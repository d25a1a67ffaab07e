import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { unitNamed } from '../../core/units.js';
import type { LaserAsk } from '../model/laser-ask.js';
import type { Model } from '../model/model.js';
import { clockText } from '../model/numbers.js';
import type { StopAsk } from '../model/stop-ask.js';
import { type Act, refusalText } from '../parts/act.js';
import { useConsole } from '../parts/console.js';
import { Press } from '../parts/press.js';
import { type AnswerableLine, doingLines } from './doing.js';
import { healthLines, type Line, mostUrgentFirst, safetyLines, staleLines } from './lines.js';

/** The version of the page, put in when it is built. */
declare const VERSION: string;

/**
 * All complaints, the most urgent always in view in room of its own, so that nothing moves and nothing is covered. A press
 * lays the others over the page below. For a thumb there is no button that loads the page anew, which a slip could press.
 */
export function AlertStrip({ isForThumb = false }: { readonly isForThumb?: boolean }) {
  const { model } = useConsole();
  const open = useSignal(false);
  const isCut = useSignal(false);
  const list = useRef<HTMLUListElement>(null);
  const lines = linesOf(model, isForThumb);
  const others = lines.slice(1);
  const folds = lines.length > 0 && (others.length > 0 || isCut.value || open.value);
  const measure = () => {
    const text = list.current?.querySelector('li span');
    isCut.value = !!text && text.scrollHeight > text.clientHeight + 2;
  };
  useEffect(measure);
  useEffect(() => {
    window.addEventListener('resize', measure);
    return () => window.removeEventListener('resize', measure);
  }, []);
  return (
    <div class="strip" data-open={open.value || undefined} data-folds={folds || undefined}>
      <div role="alert">
        <ul ref={list}>
          {lines.map(({ tone, about, text, answer }) => (
            <li data-tone={tone} key={about + (answer?.name ?? text)}>
              <span>
                <strong>{about}</strong> {text}
              </span>
              {answer && (
                <Press
                  act={answer.act}
                  what={answer.what ?? ''}
                  run={answer.run}
                  disabled={answer.disabled}
                  aria-label={answer.name}
                >
                  {answer.label}
                </Press>
              )}
            </li>
          ))}
        </ul>
      </div>
      {lines.length === 0 && model.status.value !== undefined && <p class="well">All well</p>}
      {folds && (
        <button
          type="button"
          class="fold"
          data-tone={others[0]?.tone}
          aria-expanded={open.value}
          onClick={() => {
            open.value = !open.value;
          }}
        >
          {open.value ? 'Fold' : others.length > 0 ? `${others.length} more` : 'More'}
          {!open.value && others.length > 0 && <small>{subjectsOf(others)}</small>}
        </button>
      )}
    </div>
  );
}

/** Names what the lines are about, each thing once. */
function subjectsOf(lines: readonly Line[]): string {
  return [...new Set(lines.map(({ about }) => about.replace(/[:.]$/, '')))].join(', ');
}

function linesOf(model: Model, isForThumb: boolean): AnswerableLine[] {
  const [status, fresh, resting] = [model.status.value, model.fresh.value, model.resting.value];
  return mostUrgentFirst<AnswerableLine>([
    ...stopAskLines(model.stop),
    ...refusalLines(model.resuming),
    ...(!fresh && (resting || status !== undefined)
      ? staleLines(model.laser.mayBeLit, resting, model.deafness.value)
      : []),
    ...(status === undefined ? [] : safetyLines(status, fresh)),
    ...laserAskLines(model.laser),
    ...[
      // The login shows its own.
      ...(model.isShut ? [] : [model.entering]),
      ...Object.values(model.modes),
      ...Object.values(model.exciting),
      ...Object.values(model.gains).map(({ trial }) => trial.act),
      model.tuning.act,
    ].flatMap(refusalLines),
    ...(status === undefined ? [] : healthLines(status)),
    ...restartLines(model),
    ...(status === undefined || status.version === VERSION ? [] : [outdatedLine(model, isForThumb)]),
    ...doingLines(model),
  ]);
}

/** Without contact the page might not come back, and a stop or an Off that is still to be sent would be forgotten. */
function outdatedLine({ fresh, isOwing }: Model, isForThumb: boolean): AnswerableLine {
  const line = {
    tone: 'note',
    about: 'Page',
    text: 'is of another version than the daemon: load it anew.',
  } as const;
  if (isForThumb) return line;
  const run = () => location.reload();
  const disabled = !fresh.value || isOwing;
  return { ...line, answer: { label: 'Reload', name: 'Load the page anew', run, disabled } };
}

/** A stop that was asked for here. Of a robot that is heard, status says what came of one that was answered. */
function stopAskLines(stop: StopAsk): Line[] {
  if (stop.stopped) return [];
  if (stop.asksAgain.value) {
    return [{ tone: 'alarm', about: 'STOP', text: 'sent, asking again… Be ready to cut the power.' }];
  }
  const refusal = stop.act.refusal.value;
  const bad = (text: string) => pressLine('STOP', stop.pressedMs, text);
  if (refusal === undefined) {
    return stop.isConfirmed.value && stop.stopped === undefined ? bad('is confirmed.') : [];
  }
  if (stop.isForbidden && stop.isOld.value) return bad(`was refused. ${PRESS_AGAIN}`);
  const cure = stop.isForbidden ? 'Only an operator or referee can send it.' : refusalText(refusal);
  const text = `Be ready to cut the power. ${cure}`;
  return [{ tone: 'alarm', about: 'STOP is not confirmed.', text }];
}

function laserAskLines({ act, unheard, pressedMs }: LaserAsk): Line[] {
  const about = 'Laser Off';
  if (unheard.value === 'slow') return [{ tone: 'bad', about, text: 'sent, asking again…' }];
  if (unheard.value === 'old') return pressLine(about, pressedMs, `was not answered. ${PRESS_AGAIN}`);
  return refusalLines(act);
}

const PRESS_AGAIN = 'Press it again if it is still wanted.';

/** What became of a press of some time ago. */
function pressLine(about: string, pressedMs: number, text: string): Line[] {
  const at = clockText(new Date(pressedMs).toISOString(), new Date());
  return [{ tone: 'bad', about, text: `of ${at} ${text}` }];
}

function refusalLines({ title, refusal }: Act): Line[] {
  return refusal.value === undefined ? [] : [{ tone: 'bad', about: title, text: refusalText(refusal.value) }];
}

/** They stand until somebody takes note. */
function restartLines({ log, status }: Model): AnswerableLine[] {
  return log.restarts.value.map(event => {
    const mode = status.value?.[event.unit].mode;
    return {
      tone: 'bad',
      about: unitNamed(event.unit).title,
      text: `restarted ${clockText(event.at, new Date())}${mode == null ? '' : `, now ${mode}`}.`,
      answer: { label: 'Noted', name: 'Noted', run: () => log.note(event) },
    };
  });
}
