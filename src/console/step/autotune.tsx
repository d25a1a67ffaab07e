import { type Signal, useSignal } from '@preact/signals';
import { insideOut, LONGEST_TUNING_S, STYLES, type Style, TUNING_PART } from '../../core/tuning-terms.js';
import { type Loop, sameGains, unitNamed } from '../../core/units.js';
import type { Tune } from '../../schemas/tune.js';
import { KEEP, SavedNote, TRY } from '../gains/gain-acts.js';
import { leftText, reasonOf, toggled, usualS } from '../model/autotune.js';
import { loopNamed, loopOf } from '../model/loop-choice.js';
import { gainsText, milliseconds, percent } from '../model/numbers.js';
import { mismatchOf } from '../model/step-curve.js';
import { Heads, Outcome, Press, Segments, useModel, write, writes } from '../parts/parts.js';

const STYLE_TEXTS: Readonly<Record<Style, string>> = {
  gentle: 'Gentle: the calmest gains, slower, with the largest reserve against oscillation.',
  normal: 'Normal: a balance of speed and reserve against oscillation.',
  brisk: 'Brisk: the fastest gains, with the smallest reserve against oscillation.',
};

/** Tells before a tuning which loops it moves, how far, and for how long. */
export function TunePlan({ onBegin }: { readonly onBegin: () => void }) {
  const model = useModel();
  const { autotune } = model;
  const choice = model.choice.value;
  const loop = loopOf(choice);
  const unit = unitNamed(choice.unit);
  const name = unit.title.toLowerCase();
  const disabled = !model.may('drive') || autotune.running !== undefined;
  const begin = (...loops: readonly Loop[]) => {
    const names = loops.map(loop => loop.name);
    onBegin();
    return autotune.begin(unit.name, names);
  };
  return (
    <fieldset class="question" aria-label="Tune">
      <p>
        <strong>{loop.title}</strong> moves {farText(loop)} around its present value, in jumps every{' '}
        {loop.excitationPeriodS / 2} s, for at most {LONGEST_TUNING_S} s. It ends if the loop is off by{' '}
        {loop.runaway} {loop.quantity}.
      </p>
      <p>
        <strong>All {unit.loops.length}</strong> move one after another:{' '}
        {insideOut(unit)
          .map(one => `${one.title} ${farText(one)} (ends if off by ${one.runaway} ${one.quantity})`)
          .join('; ')}
        . About {usualS(unit.loops)} s in all, at most {LONGEST_TUNING_S * unit.loops.length} s.
      </p>
      <p>
        {model.status.value?.[unit.name].mode !== 'debug' && `The ${name} is put in debug mode first. `}The
        laser goes dark. The tuning ends with this page, with a stop, or by End; it proposes gains and saves
        none.
      </p>
      <div class="row">
        <Segments options={STYLES} chosen={autotune.style} />
        <Press
          text={`Tune ${loop.title}`}
          needs="tune"
          moves
          class="primary"
          disabled={disabled}
          run={() => begin(loop)}
        />
        <Press
          text={`Tune all ${unit.loops.length}`}
          needs="tune"
          moves
          disabled={disabled}
          run={() => begin(...unit.loops)}
          title="Tunes the loops from the inside out. Better gains of inner loops run unsaved while the outer loops are tuned."
        />
      </div>
      <p class="hint">{STYLE_TEXTS[autotune.style.value]}</p>
      <Outcome action={autotune.action} />
    </fieldset>
  );
}

function farText({ maxAmplitude, quantity }: Loop): string {
  return `±${Number((TUNING_PART * maxAmplitude).toPrecision(2))} ${quantity}`;
}

type Result = Tune['results'][number];

/** The progress or the result of the chosen unit's tuning, loop by loop. */
export function TuneReport({ tune }: { readonly tune: Tune }) {
  const { autotune, access } = useModel();
  if (tune.state !== 'running') return <TuneEnd tune={tune} key={tune.id} />;
  return (
    <>
      <p role="status">
        <strong>Tuning {loopNamed(unitNamed(tune.unit), tune.loop).title}:</strong>{' '}
        {tune.words.at(-1) ?? 'it begins'}… {tune.loops.length > 1 && `${leftText(tune)} `}
        <Press text="End" run={() => autotune.end(tune.unit)} disabled={!access.hasRight('tune')} />
      </p>
      <Results tune={tune} />
    </>
  );
}

/** The result of a tuning. Its gains are proposed, and not saved. */
function TuneEnd({ tune }: { readonly tune: Tune }) {
  const model = useModel();
  const gains = model.gains[tune.unit];
  /**
   * The revision that Keep replaces. After a refusal it is the revision in force. Another press replaces that one, if the
   * page has its gains by then.
   */
  const revision = useSignal(tune.proposal?.revision ?? 0);
  const better = tune.results.flatMap(({ loop, state, proposed }) =>
    state === 'better' && proposed ? [{ loop, gains: proposed.gains }] : [],
  );
  const ticked = useSignal<ReadonlySet<string>>(new Set(better.map(({ loop }) => loop)));
  const chosen = better.filter(({ loop }) => ticked.value.has(loop));
  const stored = gains.stored.value?.gains;
  const isKept = chosen.every(one => sameGains(stored?.[one.loop], one.gains));
  const keep = async () => {
    const loops = Object.fromEntries(chosen.map(one => [one.loop, one.gains]));
    if (!(await gains.saveLoops(loops, revision.value)))
      revision.value = gains.saving.refusal.value?.revision ?? revision.value;
  };
  const tryThem = () => {
    for (const one of chosen) gains.editLoop(one.loop, one.gains);
    void gains.try();
  };
  return (
    <>
      {tune.state === 'aborted' && <p role="status">{`Ended: ${tune.why}`.replace(/\.*$/, '.')}</p>}
      <Results tune={tune} ticked={ticked} />
      {better.length > 0 && isKept && <SavedNote gains={gains} />}
      <span class="row">
        {better.length > 0 && (
          <>
            <Press {...TRY} run={tryThem} disabled={isKept || !model.mayMove} />
            <Press
              text={better.length > 1 ? `Keep ${chosen.length} of ${better.length}` : 'Keep'}
              {...KEEP}
              run={keep}
              disabled={isKept}
            />
          </>
        )}
        <Press text="Dismiss" run={writes(model.autotune.dismissed, tune.id)} />
      </span>
    </>
  );
}

interface ResultsProps {
  readonly tune: Tune;
  /** The loops to keep. Without it, nothing can be ticked. */
  readonly ticked?: Signal<ReadonlySet<string>>;
}

/** Each tuned loop: before and after, why it is better or was left, and whether to keep it. */
function Results({ tune: { unit: name, results }, ticked }: ResultsProps) {
  const unit = unitNamed(name);
  if (results.length === 0) return null;
  return (
    <table class="figures tuned-loops" aria-label="Tuned loops">
      <Heads texts={['Loop', 'Settling', 'Overshoot']} />
      {results.map(result => {
        const { loop, state } = result;
        const { title } = loopNamed(unit, loop);
        return (
          <tbody key={loop}>
            <tr>
              <th scope="row">
                {ticked && state === 'better' ? (
                  <label>
                    <input
                      type="checkbox"
                      aria-label={`Keep ${title}`}
                      checked={ticked.value.has(loop)}
                      onChange={() => write(ticked, toggled(unit, ticked.value, loop))}
                    />{' '}
                    {title}
                  </label>
                ) : (
                  title
                )}
              </th>
              <td>{changeOf(result, 'settlingS', milliseconds)}</td>
              <td>{changeOf(result, 'overshootPercent', percent)}</td>
            </tr>
            <tr>
              <th colSpan={3} scope="row">
                <Why title={title} {...result} />
              </th>
            </tr>
          </tbody>
        );
      })}
    </table>
  );
}

type Shown = 'settlingS' | 'overshootPercent';

/** A figure with the old gains and with the proposed ones. If the full steps with the proposed gains differ, its spread too. */
function changeOf({ before, proposed }: Result, name: Shown, text: (value: number | null) => string) {
  const all = proposed?.steps.map(step => step[name] ?? Number.NaN) ?? [];
  const [least, most] = [Math.min(...all), Math.max(...all)];
  return (
    <>
      {text(before?.figures[name] ?? null)} {proposed && `→ ${text(proposed.figures[name])}`}
      {most > least && <small>{`${text(least)} to ${text(most)}`}</small>}
    </>
  );
}

/** Why a loop is better or was left, with the gains and the prediction. */
function Why({ title, ...result }: Result & { readonly title: string }) {
  const { state, why, before, proposed, predicted } = result;
  const mismatch = mismatchOf(result);
  return (
    <>
      <small>
        {state === 'better' ? `Better: ${reasonOf(result)}.` : `Left (${state}): ${why}.`}
        {proposed && before && ` ${gainsText(before.gains)} → ${gainsText(proposed.gains)}.`}
        {predicted &&
          ` Predicted ${milliseconds(predicted.settlingS)}, ${percent(predicted.overshootPercent)} (dotted); the model leaves ${percent(predicted.fitPercent)} unexplained.`}
      </small>
      {mismatch && <small class="caveat">{`${title}: ${mismatch}`}</small>}
    </>
  );
}
