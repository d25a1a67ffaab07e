import type { StepSummary } from '../../schemas/step.js';
import { clockText } from '../model/numbers.js';
import { useModel } from '../parts/parts.js';
import { gainsText, milliseconds, withUnit } from './figure-table.js';
import { RUN_COLOURS } from './step-chart.js';

/** The chosen loop's steps that the daemon remembers: tick them to lay them under the newest, or take their gains. */
export function RunTable() {
  const model = useModel();
  const { runs } = model;
  const { unit, loop } = model.choice.value;
  return (
    <section class="runs" aria-label="Runs">
      <table class="figures">
        <thead>
          <tr>
            <td />
            {['Time', 'Gains', 'Settling', 'Overshoot', 'Of'].map(head => (
              <th scope="col" key={head}>
                {head}
              </th>
            ))}
            <td />
          </tr>
        </thead>
        <tbody>
          {runs.list.value.map(run => (
            <tr key={run.number} data-main={run.number === runs.main?.number || undefined}>
              <td>
                <Tick run={run} />
              </td>
              <td>{clockText(run.at, new Date())}</td>
              <td>{gainsText(run.gains)}</td>
              <td>{run.figures.oscillation ? 'rings' : milliseconds(run.figures.settlingS)}</td>
              <td>{run.figures.oscillation ? '–' : withUnit(run.figures.overshootPercent, 1, '%')}</td>
              <td>
                {run.revision === null ? 'trial' : `rev ${run.revision}`}
                {run.number === runs.best.value && <strong class="best"> best so far</strong>}
              </td>
              <td>
                <button
                  type="button"
                  aria-label={`Take these: run ${run.number}`}
                  onClick={() => model.gains[unit].editLoop(loop, run.gains)}
                >
                  Take these
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** Its colour is that of the curve. */
function Tick({ run: { number } }: { readonly run: StepSummary }) {
  const { runs } = useModel();
  const place = runs.ticked.value.indexOf(number);
  return (
    <input
      type="checkbox"
      aria-label={`Draw run ${number}`}
      checked={place >= 0}
      style={{ accentColor: `var(--${RUN_COLOURS[place]})` }}
      onChange={() => runs.tick(number)}
    />
  );
}
