import { useSignal } from '@preact/signals';
import type { Unit } from '../../core/units.js';
import type { Comparison } from '../../schemas/history.js';
import type { RememberedStep } from '../../schemas/step.js';
import type { LoopChoice } from '../model/loop-choice.js';
import { clockText, figuresText, gainsText } from '../model/numbers.js';
import { stepPath } from '../model/runs.js';
import { inPercent } from '../model/step-curve.js';
import { Heads, Outcome, Press, useAnswer, useModel, write, writes } from '../parts/parts.js';
import { StepChart } from '../step/step-chart.js';

/** The number of revisions to choose from. */
const REVISIONS = 20;

/** Compares two sets of gains loop by loop, with the measured figures, and draws the steps of one loop. */
export function Compare({ unit, names }: { unit: Unit; names: readonly string[] }) {
  const { daemon, status } = useModel();
  const { revision = 0 } = status.value?.[unit.name].gains ?? {};
  const [a, b] = [useSignal('0'), useSignal(String(revision))];
  const picked = useSignal<string | undefined>(undefined);
  const query = String(new URLSearchParams({ a: a.value, b: b.value }));
  const ask = async () => {
    const outcome = await daemon.get<Comparison>(`/api/${unit.name}/compare?${query}`);
    return 'body' in outcome ? { body: { query, loops: outcome.body.loops } } : outcome;
  };
  const { answer, action } = useAnswer(ask, [query, names.length, revision]);
  // The gains of the sets that were chosen before must not stand below the new names.
  const loops = answer?.query === query ? answer.loops : undefined;
  const revisions = Array.from({ length: Math.min(REVISIONS, revision) }, (_, back) => revision - back);
  const options = [
    ...names.map(name => [name, name]),
    ...revisions.map(number => [String(number), `revision ${number}`]),
    ['0', 'defaults'],
  ];
  const chooser = (side: { value: string }, label: string) => (
    <select aria-label={label} value={side.value} onChange={event => write(side, event.currentTarget.value)}>
      {options.map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </select>
  );
  const drawn =
    picked.value ?? unit.loops.find(({ name }) => loops?.[name]?.differs)?.name ?? unit.loops[0]?.name;
  const shown = loops?.[drawn ?? ''];
  return (
    <>
      <table class="figures compared" aria-label="Comparison">
        <Heads texts={['', chooser(a, 'Compare'), chooser(b, 'With')]} />
        <tbody>
          {unit.loops.map(({ name, title }) => {
            const loop = loops?.[name];
            return (
              <tr key={name} data-differs={loop?.differs || undefined}>
                <th scope="row">
                  <Press
                    text={title}
                    pressed={name === drawn}
                    title="Draws the steps of this loop"
                    run={writes(picked, name)}
                  />
                </th>
                {[loop?.a, loop?.b].map((side, index) => (
                  <td key={index === 0 ? 'a' : 'b'}>
                    {side && gainsText(side.gains)}
                    {side?.measured && (
                      <small>
                        {figuresText(side.measured)}, {clockText(side.measured.at)}
                      </small>
                    )}
                  </td>
                ))}
              </tr>
            );
          })}
        </tbody>
        <caption>
          <Outcome action={action} />
        </caption>
      </table>
      {drawn !== undefined && shown !== undefined && (
        <CompareCurves
          key={`${drawn} ${shown.a.measured?.number} ${shown.b.measured?.number}`}
          unit={unit.name}
          loop={drawn}
          a={shown.a.measured?.number}
          b={shown.b.measured?.number}
        />
      )}
    </>
  );
}

/**
 * The newest steps of one loop with two sets of gains, in one chart, in percent of each step's height. `a` and `b` are the
 * numbers of the steps; undefined if none was measured.
 */
function CompareCurves({ unit, loop, a, b }: LoopChoice & Record<'a' | 'b', number | undefined>) {
  const { daemon } = useModel();
  const stepOf = async (number: number | undefined) => {
    const step = number && (await daemon.read<RememberedStep>(stepPath(unit, loop, number)));
    return step ? inPercent(step) : undefined;
  };
  const ask = async () => ({ body: await Promise.all([stepOf(a), stepOf(b)]) });
  const [one, other] = useAnswer(ask, [unit, loop, a, b]).answer ?? [];
  return (
    <>
      {(one ?? other) !== undefined && (
        <StepChart
          main={other}
          under={one === undefined ? [] : [{ step: one, colour: 'run-1' }]}
          quantity="%"
          predicted={undefined}
        />
      )}
      {(a === undefined || b === undefined) && (
        <p class="hint">
          {a === b ? 'No step' : `No step with the ${a === undefined ? 'first' : 'second'} set`} of this loop
          was captured yet.
        </p>
      )}
    </>
  );
}
