import type { Quantity } from '../../core/units.js';
import type { RememberedStep, StepFigures, StepSummary } from '../../schemas/step.js';
import { clockText, fixed } from '../model/numbers.js';
import { caveatOf } from '../model/step-curve.js';
import { Press, useModel } from '../parts/parts.js';
import { RUN_COLOURS } from './step-chart.js';

interface Figure {
  readonly title: string;
  readonly text: (figures: StepFigures, quantity: Quantity) => string;
}

const FIGURES: readonly Figure[] = [
  { title: 'Overshoot', text: figures => withUnit(figures.overshootPercent, 1, '%') },
  { title: 'Rise 10–90 %', text: figures => milliseconds(figures.riseS) },
  { title: 'Settling', text: figures => milliseconds(figures.settlingS) },
  { title: 'Steady error', text: (figures, quantity) => withUnit(figures.steadyError, 4, quantity) },
];

interface FigureTableProps {
  readonly current: RememberedStep;
  readonly previous: RememberedStep | undefined;
  readonly quantity: Quantity;
}

/** The figures of a step, beside those of another step. */
export function FigureTable({ current, previous, quantity }: FigureTableProps) {
  const caveat = caveatOf(current);
  return (
    <div class="reading">
      <Swing of={current} quantity={quantity} />
      {caveat !== undefined && <p class="caveat">{caveat}</p>}
      <table class="figures">
        <thead>
          <tr>
            <td />
            <Head title="Newest" of={current} />
            {previous !== undefined && <Head title="Compared with" of={previous} />}
          </tr>
        </thead>
        <tbody>
          {FIGURES.map(figure => (
            <tr key={figure.title}>
              <th scope="row">{figure.title}</th>
              <Cell figure={figure} of={current} quantity={quantity} />
              {previous !== undefined && <Cell figure={figure} of={previous} quantity={quantity} />}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Head({ title, of: { gains } }: { readonly title: string; readonly of: RememberedStep }) {
  return (
    <th scope="col">
      {title}
      <small>{gainsText(gains)}</small>
    </th>
  );
}

interface CellProps {
  readonly figure: Figure;
  readonly of: RememberedStep;
  readonly quantity: Quantity;
}

/** An oscillating response has no figures. */
function Cell({ figure, of: { figures }, quantity }: CellProps) {
  return <td>{figures.oscillation ? '–' : figure.text(figures, quantity)}</td>;
}

function Swing({ of, quantity }: { readonly of: RememberedStep; readonly quantity: Quantity }) {
  const { oscillation } = of.figures;
  if (!oscillation) return null;
  const { swing, frequencyHz } = oscillation;
  return (
    <p class="swing" role="status">
      oscillates ±{Number(swing.toPrecision(2))} {quantity}, {Number(frequencyHz.toPrecision(2))} Hz
    </p>
  );
}

export function gainsText(gains: RememberedStep['gains'] | undefined): string {
  return gains === undefined ? '–' : `${gains.kp} · ${gains.ki} · ${gains.kd}`;
}

export function withUnit(value: number | null, decimals: number, unit: string): string {
  return value === null ? '–' : `${fixed(value, decimals)} ${unit}`;
}

export function milliseconds(value: number | null): string {
  return withUnit(value === null ? null : value * 1000, value !== null && value < 0.1 ? 1 : 0, 'ms');
}

/** The captured steps of the chosen loop. Ticked steps are drawn. A button turns the gains of a step into edits. */
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
            {['Time', 'Gains', 'Settling', 'Overshoot', 'Saved as'].map(head => (
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
                <Press
                  aria-label={`Use these gains: run ${run.number}`}
                  run={() => model.gains[unit].editLoop(loop, run.gains)}
                >
                  Use these gains
                </Press>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** A checkbox in the colour of the curve. */
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
