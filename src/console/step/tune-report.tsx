import { unitNamed } from '../../core/units.js';
import type { Tune } from '../../schemas/tune.js';
import { loopNamed } from '../bar/strip.js';
import { loopOf } from '../model/loop-choice.js';
import { mismatchOf } from '../model/step-curve.js';
import { Press, useModel } from '../parts/parts.js';
import { TryAndKeep } from '../tuning/gain-acts.js';
import { gainsText, milliseconds, withUnit } from './figure-table.js';

/** How the chosen loop's tuning goes, or what came of it; and of a tuning of all loops, each. */
export function TuneReport() {
  const model = useModel();
  const { tuning } = model;
  const tune = model.tuned.value;
  const [all, plan] = [tuning.ended.value, tuning.plan.value];
  const { unit } = model.choice.value;
  const missing = unitNamed(all[0]?.unit ?? unit).loops.length - all.length;
  const last = tuning.tunes[unit].value;
  const running = last?.state === 'running' ? last : undefined;
  const current = running ?? plan.find(next => next.unit === unit);
  return (
    <>
      {all.length > 0 && (
        <ul class="tuned-loops">
          {all.map(one => (
            <li key={one.id}>
              {loopOf(one).title}: {verdictOf(one)}
            </li>
          ))}
          {plan.length > 1 && <li>{plan.length - 1} to come</li>}
          {missing > 0 && tuning.brokenOffBy.value !== '' && (
            <li>
              {missing} not tuned: {tuning.brokenOffBy.value}.
            </li>
          )}
        </ul>
      )}
      {current ? (
        <p role="status">
          <strong>
            {running ? 'Tuning' : 'Next:'} {loopNamed(unitNamed(unit), current.loop).title}.
          </strong>{' '}
          {running && `${running.words.at(-1) ?? 'It begins'}… `}
          <Press
            action={tuning.action}
            what="end"
            run={() => tuning.end(unit)}
            disabled={!model.access.hasRight('tune')}
          >
            End
          </Press>
        </p>
      ) : (
        tune !== undefined && <TuneEnd tune={tune} />
      )}
    </>
  );
}

function verdictOf({ state, why, before, proposed }: Tune): string {
  if (state === 'good') return 'your gains are already as good; nothing changed.';
  if (state !== 'better' || proposed === null) return `${state}: ${why}.`;
  const from = before?.figures.settlingS ?? null;
  const than = from === null ? '; it did not settle before' : ` instead of ${milliseconds(from)}`;
  return `settles in ${milliseconds(proposed.figures.settlingS)}${than}.`;
}

/** Its gains are proposed and not saved. */
function TuneEnd({ tune }: { readonly tune: Tune }) {
  const model = useModel();
  const { tuning } = model;
  const { unit, loop, proposed, predicted, before } = tune;
  const gains = model.gains[unit];
  const stored = gains.stored.value?.gains[loop];
  const isKept = proposed !== null && stored !== undefined && gainsText(stored) === gainsText(proposed.gains);
  const mismatch = mismatchOf(tune);
  return (
    <>
      <p role="status">
        <strong>{loopOf(tune).title}:</strong> {verdictOf(tune)} {isKept && 'Saved.'}
      </p>
      <span class="acts">
        {proposed !== null && !isKept && (
          <TryAndKeep
            gains={gains}
            onTry={() => {
              gains.editLoop(loop, proposed.gains);
              void gains.try();
            }}
            onKeep={() => gains.saveLoop(loop, proposed.gains)}
          />
        )}
        <Press
          run={() => {
            tuning.dismissed.value = tune.id;
            // What is put away is not saved either, where its save still waits for another one.
            tuning.breakOff('its result was dismissed', unit);
            if (tuning.allOf.peek() === undefined) tuning.ended.value = [];
          }}
        >
          Dismiss
        </Press>
      </span>
      {proposed !== null && (
        <p class="hint">
          {before !== null && `${gainsText(before.gains)} → `}
          <strong>{gainsText(proposed.gains)}</strong>, measured overshoot{' '}
          {withUnit(proposed.figures.overshootPercent, 1, '%')}
          {predicted !== null &&
            `; predicted ${milliseconds(predicted.settlingS)} and ${withUnit(predicted.overshootPercent, 1, '%')} (dotted), fit ${withUnit(predicted.fitPercent, 1, '%')}`}
        </p>
      )}
      {mismatch !== undefined && <p class="caveat">{mismatch}</p>}
    </>
  );
}
