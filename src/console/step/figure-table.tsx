import type { RememberedStep, StepFigures } from '../../schemas/step.js';
import { gainsText, milliseconds, withUnit } from '../model/numbers.js';
import type { DrawnRun } from '../model/runs.js';
import { caveatOf, wildnessOf } from '../model/step-curve.js';
import { Heads, useModel } from '../parts/parts.js';
import type { ChartUnit } from '../plot/chart.js';

type Figure = (figures: StepFigures, quantity: ChartUnit) => string;

const FIGURES: Readonly<Record<string, Figure>> = {
  Overshoot: figures => withUnit(figures.overshootPercent, 1, '%'),
  'Rise 10–90 %': figures => milliseconds(figures.riseS),
  Settling: figures => milliseconds(figures.settlingS),
  'Steady error': (figures, quantity) => withUnit(figures.steadyError, 4, quantity),
};

interface FigureTableProps {
  readonly current: RememberedStep;
  readonly previous: DrawnRun | undefined;
  readonly quantity: ChartUnit;
}

/** The figures of a step, beside those of another step. An oscillating response has no figures. */
export function FigureTable({ current, previous, quantity }: FigureTableProps) {
  const newest = useModel().runs.list.value[0]?.number;
  const wildness = wildnessOf(current, quantity);
  const caveat = caveatOf(current);
  const steps = [{ step: current, colour: 'accent' }, ...(previous === undefined ? [] : [previous])];
  const heads = steps.map(({ step: { number, gains }, colour }) => (
    <span key={number} style={{ color: `var(--${colour})` }}>
      {number === newest ? 'Newest' : `Run #${number}`}
      <small>{gainsText(gains)}</small>
    </span>
  ));
  return (
    <div class="reading">
      {wildness && (
        <p data-tone="alarm" role="status">
          {wildness}
        </p>
      )}
      {caveat !== undefined && <p class="caveat">{caveat}</p>}
      <table class="figures">
        <Heads texts={['', ...heads]} />
        <tbody>
          {Object.entries(FIGURES).map(([title, text]) => (
            <tr key={title}>
              <th scope="row">{title}</th>
              {steps.map(({ step: { number, figures }, colour }) => (
                <td key={number} style={{ color: `var(--${colour})` }}>
                  {figures.oscillation ? '–' : text(figures, quantity)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
