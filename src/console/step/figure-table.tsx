import type { Quantity } from '../../core/units.js';
import type { Step } from '../daemon/robot-state.js';
import { fixed } from '../model/numbers.js';
import { caveatOf, type RememberedStep, type StepPair } from '../model/step-memory.js';

interface Figure {
  readonly title: string;
  readonly text: (figures: Step['figures'], quantity: Quantity) => string;
}

const FIGURES: readonly Figure[] = [
  { title: 'Overshoot', text: figures => withUnit(figures.overshootPercent, 1, '%') },
  { title: 'Rise 10–90 %', text: figures => milliseconds(figures.riseS) },
  { title: 'Settling', text: figures => milliseconds(figures.settlingS) },
  { title: 'Steady error', text: (figures, quantity) => withUnit(figures.steadyError, 4, quantity) },
];

/** What a tuner reads from the newest step, beside that of the gains before. */
export function FigureTable({ pair, quantity }: { readonly pair: StepPair; readonly quantity: Quantity }) {
  const { current, previous } = pair;
  const caveat = caveatOf(current.step);
  return (
    <div class="reading">
      <Swing of={current} quantity={quantity} />
      {caveat !== undefined && <p class="caveat">{caveat}</p>}
      <table class="figures">
        <thead>
          <tr>
            <td />
            <Head title="Now" of={current} />
            {previous !== undefined && <Head title="Before" of={previous} />}
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
      <small>
        {gains.kp} · {gains.ki} · {gains.kd}
      </small>
    </th>
  );
}

interface CellProps {
  readonly figure: Figure;
  readonly of: RememberedStep;
  readonly quantity: Quantity;
}

/** A response that never comes to rest has no figures to boast of. */
function Cell({ figure, of: { step }, quantity }: CellProps) {
  return <td>{step.figures.oscillation ? '–' : figure.text(step.figures, quantity)}</td>;
}

function Swing({ of: { step }, quantity }: { readonly of: RememberedStep; readonly quantity: Quantity }) {
  const { oscillation } = step.figures;
  if (!oscillation) return null;
  const { swing, frequencyHz } = oscillation;
  return (
    <p class="swing" role="status">
      oscillates ±{Number(swing.toPrecision(2))} {quantity}, {Number(frequencyHz.toPrecision(2))} Hz
    </p>
  );
}

function withUnit(value: number | null, decimals: number, unit: string): string {
  return value === null ? '–' : `${fixed(value, decimals)} ${unit}`;
}

function milliseconds(value: number | null): string {
  return withUnit(value === null ? null : value * 1000, value !== null && value < 0.1 ? 1 : 0, 'ms');
}
