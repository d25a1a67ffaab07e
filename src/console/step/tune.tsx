import { useSignal } from '@preact/signals';
import { LONGEST_TUNING_S, STYLES, TUNING_PART } from '../../core/tuning-terms.js';
import { type Loop, sameGains, unitNamed } from '../../core/units.js';
import type { Tune } from '../../schemas/tune.js';
import { loopNamed, loopOf } from '../model/loop-choice.js';
import { mismatchOf } from '../model/step-curve.js';
import { leftText } from '../model/tuning.js';
import { Outcome, Press, Segments, useModel, writes } from '../parts/parts.js';
import { KEEP, SavedNote, TRY } from '../tuning/gain-acts.js';
import { gainsText, milliseconds, withUnit } from './figure-table.js';

/** Tells before a tuning which loops it moves, how far, and for how long. */
export function TunePlan({ onBegin }: { readonly onBegin: () => void }) {
  const model = useModel();
  const { tuning } = model;
  const choice = model.choice.value;
  const loop = loopOf(choice);
  const unit = unitNamed(choice.unit);
  const name = unit.title.toLowerCase();
  const disabled = !model.may('drive') || tuning.running !== undefined;
  const begin = (loops: readonly Loop[]) => {
    onBegin();
    return tuning.begin(
      unit.name,
      loops.map(({ name }) => name),
    );
  };
  return (
    <fieldset class="question" aria-label="Tune">
      <p>
        <strong>{loop.title}</strong> {moves(loop)}
        {model.status.value?.[unit.name].mode !== 'debug' && ` The ${name} is put in debug mode first.`} The
        laser goes dark. The tuning ends with this page, with a stop, or by End; it proposes gains and saves
        none.
      </p>
      <div class="row">
        <Segments options={STYLES} chosen={tuning.style} />
        <Press needs="tune" moves class="primary" disabled={disabled} run={() => begin([loop])}>
          Tune {loop.title}
        </Press>
        <Press
          needs="tune"
          moves
          disabled={disabled}
          run={() => begin(unit.loops)}
          title="Tunes the loops from the inside out. Better gains of inner loops run unsaved while the outer loops are tuned."
        >
          Tune all {unit.loops.length}
        </Press>
      </div>
      <Outcome action={tuning.action} />
    </fieldset>
  );
}

function moves({ maxAmplitude, quantity, excitationPeriodS, runaway }: Loop): string {
  const far = Number((TUNING_PART * maxAmplitude).toPrecision(2));
  return (
    `moves ±${far} ${quantity} around its present value, in jumps every ${excitationPeriodS / 2} s, for at most ` +
    `${LONGEST_TUNING_S} s. If it is off by more than ${runaway} ${quantity}, the test steps end.`
  );
}

type Result = Tune['results'][number];

/** The progress or the result of the chosen unit's tuning, loop by loop. */
export function TuneReport({ tune }: { readonly tune: Tune }) {
  const { tuning, access } = useModel();
  const unit = unitNamed(tune.unit);
  return (
    <>
      {tune.results.length > 0 && (
        <ul class="tuned-loops">
          {tune.results.map(result => (
            <li key={result.loop}>
              {loopNamed(unit, result.loop).title}: {verdictOf(result)}
            </li>
          ))}
        </ul>
      )}
      {tune.state === 'running' ? (
        <p role="status">
          <strong>Tuning {loopNamed(unit, tune.loop).title}.</strong> {tune.words.at(-1) ?? 'It begins'}…{' '}
          {tune.loops.length > 1 && `${leftText(tune)} `}
          <Press run={() => tuning.end(tune.unit)} disabled={!access.hasRight('tune')}>
            End
          </Press>
        </p>
      ) : (
        <TuneEnd tune={tune} key={tune.id} />
      )}
    </>
  );
}

function verdictOf({ state, why, before, proposed }: Result): string {
  if (state === 'good') return 'your gains are already as good; nothing changed.';
  if (state !== 'better' || proposed === null) return `${state}: ${why}.`;
  const from = before?.figures.settlingS ?? null;
  const than = from === null ? '; it did not settle before' : ` instead of ${milliseconds(from)}`;
  return `settles in ${milliseconds(proposed.figures.settlingS)}${than}.`;
}

/** The result of a tuning. Its gains are proposed, and not saved. */
function TuneEnd({ tune }: { readonly tune: Tune }) {
  const model = useModel();
  const gains = model.gains[tune.unit];
  /**
   * The revision that Keep replaces. After a 409 it is the revision in force: the person has then seen those gains,
   * and a second press replaces them.
   */
  const revision = useSignal(tune.proposal?.revision ?? 0);
  const better = tune.results.flatMap(({ loop, state, proposed }) =>
    state === 'better' && proposed ? [{ loop, gains: proposed.gains }] : [],
  );
  const stored = gains.stored.value?.gains;
  const isKept = better.every(one => sameGains(stored?.[one.loop], one.gains));
  const keep = async () => {
    const loops = Object.fromEntries(better.map(one => [one.loop, one.gains]));
    if (!(await gains.saveLoops(loops, revision.value)))
      revision.value = gains.saving.refusal.value?.revision ?? revision.value;
  };
  const tryThem = () => {
    for (const one of better) gains.editLoop(one.loop, one.gains);
    void gains.try();
  };
  return (
    <>
      <p role="status">{tune.state === 'aborted' && `Ended: ${tune.why}. `}</p>
      {better.length > 0 && isKept && <SavedNote gains={gains} />}
      <span class="row">
        {better.length > 0 && !isKept && (
          <>
            <Press {...TRY} run={tryThem} disabled={model.isStopping}>
              Try
            </Press>
            <Press {...KEEP} run={keep}>
              Keep
            </Press>
          </>
        )}
        <Press run={writes(model.tuning.dismissed, tune.id)}>Dismiss</Press>
      </span>
      {tune.results.map(result => (
        <Proposal key={result.loop} {...result} />
      ))}
    </>
  );
}

/** The gains that a tuning proposes for one loop, with measured and predicted figures. */
function Proposal(result: Result) {
  const { before, proposed, predicted } = result;
  if (proposed === null) return null;
  const mismatch = mismatchOf(result);
  return (
    <>
      <p class="hint">
        {before !== null && `${gainsText(before.gains)} → `}
        <strong>{gainsText(proposed.gains)}</strong>, measured overshoot{' '}
        {withUnit(proposed.figures.overshootPercent, 1, '%')}
        {predicted !== null &&
          `; predicted ${milliseconds(predicted.settlingS)} and ${withUnit(predicted.overshootPercent, 1, '%')} (dotted), fit ${withUnit(predicted.fitPercent, 1, '%')}`}
      </p>
      {mismatch !== undefined && <p class="caveat">{mismatch}</p>}
    </>
  );
}
