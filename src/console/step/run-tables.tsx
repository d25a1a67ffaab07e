import type { RememberedStep, StepFigures } from '../../schemas/step.js';
import { clockText, gainsText, milliseconds, percent, withUnit } from '../model/numbers.js';
import type { DrawnRun } from '../model/runs.js';
import { caveatOf, wildnessOf } from '../model/step-curve.js';
import { Heads, Press, scrolls, useModel } from '../parts/parts.js';
import type { ChartUnit } from '../plot/chart.js';

const WAYS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };

/** The table is one stop of the Tab key. Arrow keys go through its controls. */
function moveFocus(event: KeyboardEvent & { readonly currentTarget: HTMLElement }): void {
  const way = WAYS[event.key];
  if (way === undefined) return;
  const controls = [...event.currentTarget.querySelectorAll<HTMLElement>('input, button:not([hidden])')];
  const at = controls.findIndex(control => control.matches(':focus'));
  controls[Math.max(0, at + way)]?.focus();
  // The page must not scroll, and the gimbal must not move.
  event.preventDefault();
}

/** The captured steps of the chosen loop. Ticked steps are drawn. A button turns the gains of a step into edits. */
export function RunTable() {
  const model = useModel();
  const { runs } = model;
  const { unit, loop } = model.choice.value;
  return (
    <section class="runs" aria-label="Runs" {...scrolls} onKeyDown={moveFocus}>
      <table class="figures">
        <Heads texts={['Run', 'Time', 'kp · ki · kd', 'Settling', 'Overshoot', 'Saved as', '']} />
        <tbody>
          {runs.list.value.map(run => (
            <tr key={run.number} data-main={run.number === runs.main?.number || undefined}>
              <td>
                <input
                  type="checkbox"
                  tabIndex={-1}
                  aria-label={`Draw run ${run.number}`}
                  checked={runs.ticked.value.has(run.number)}
                  style={{
                    accentColor: `var(--${run.number === runs.main?.number ? 'accent' : runs.ticked.value.get(run.number)})`,
                  }}
                  onChange={() => runs.tick(run.number)}
                />{' '}
                #{run.number}
              </td>
              <td>{clockText(run.at)}</td>
              <td>{gainsText(run.gains)}</td>
              <td>{wildnessOf(run, '') ? 'wild' : milliseconds(run.figures.settlingS)}</td>
              <td>{run.figures.oscillation ? '–' : percent(run.figures.overshootPercent)}</td>
              <td>
                {run.revision === null ? 'not saved' : `rev ${run.revision}`}
                {run.number === runs.best.value && <strong class="best"> best so far</strong>}
              </td>
              <td>
                <Press
                  text="Use these gains"
                  hidden={!model.access.hasRight('tune')}
                  tabIndex={-1}
                  aria-label={`Use these gains: run ${run.number}`}
                  run={() => model.gains[unit].editLoop(loop, run.gains)}
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

type Figure = (figures: StepFigures, quantity: ChartUnit) => string;

const FIGURES: Readonly<Record<string, Figure>> = {
  Overshoot: figures => percent(figures.overshootPercent),
  'Rise 10–90 %': figures => milliseconds(figures.riseS),
  Settling: figures => milliseconds(figures.settlingS),
  'Steady error': (figures, quantity) => withUnit(figures.steadyError, quantity === '%' ? 1 : 4, quantity),
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
