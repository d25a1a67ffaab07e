import type uPlot from 'uplot';
import type { Gains } from '../core/units.js';
import type { Api } from './api.js';
import { createChart } from './chart.js';
import { csv } from './csv.js';
import { element, offerFile, setAttribute, setText } from './dom.js';
import { createExcitationForm } from './excitation-form.js';
import { keyOf, loopOf } from './loop-choice.js';
import type { Model } from './model.js';
import { fixed } from './numbers.js';
import type { Colours } from './palette.js';
import type { Panel } from './panel.js';
import type { Step } from './robot-state.js';
import { overlay, type RememberedStep, rememberStep, type StepPair, stepCurve } from './step-memory.js';

interface Figure {
  readonly name: 'overshootPercent' | 'riseS' | 'settlingS' | 'steadyError';
  readonly title: string;
  readonly text: (value: number | null) => string;
}

const FIGURES: readonly Figure[] = [
  { name: 'overshootPercent', title: 'Overshoot', text: value => withUnit(value, 1, '%') },
  { name: 'riseS', title: 'Rise 10–90 %', text: milliseconds },
  { name: 'settlingS', title: 'Settling 2 %', text: milliseconds },
  { name: 'steadyError', title: 'Steady error', text: value => fixed(value, 4) },
];

export interface StepPanel extends Panel {
  /** `gains` were in force while it was recorded. */
  take(step: Step, gains: Gains): void;
}

/** Excites the chosen loop in debug mode, and shows its newest step over the one of the gains before. */
export function createStepPanel(model: Model, api: Api, colours: Colours): StepPanel {
  const pairs = new Map<string, StepPair>();
  const form = createExcitationForm(model, api);
  const host = element('div', {
    class: 'chart',
    role: 'img',
    'aria-label': 'Captured step, from where it began',
  });
  const now = element('th', { scope: 'col' });
  const before = element('th', { scope: 'col' });
  const rows = FIGURES.map(figure => ({ figure, now: element('td'), before: element('td') }));
  const table = element(
    'table',
    { class: 'figures' },
    element('thead', {}, element('tr', {}, element('td'), now, before)),
    element(
      'tbody',
      {},
      ...rows.map(row =>
        element('tr', {}, element('th', { scope: 'row' }, row.figure.title), row.now, row.before),
      ),
    ),
  );
  const download = element('button', { type: 'button', onclick: saveCsv }, 'CSV');
  let chart: uPlot | undefined;
  let shown: StepPair | undefined;

  function update(): void {
    form.update();
    const pair = pairs.get(keyOf(model.choice));
    for (const part of [host, table, download]) setAttribute(part, 'hidden', pair === undefined);
    if (pair === undefined || pair === shown) return;
    shown = pair;
    const { current, previous } = pair;
    now.replaceChildren('Now', gainsTag(current));
    before.replaceChildren(...(previous === undefined ? [] : ['Before', gainsTag(previous)]));
    for (const row of rows) {
      setText(row.now, row.figure.text(current.step.figures[row.figure.name]));
      setText(
        row.before,
        previous === undefined ? '' : row.figure.text(previous.step.figures[row.figure.name]),
      );
    }
    chart ??= createStepChart();
    const [t, setpoint, measured, under] = overlay(
      stepCurve(current.step),
      previous && stepCurve(previous.step),
    );
    chart.setData([t, under, setpoint, measured]);
  }

  const createStepChart = () =>
    createChart({
      host,
      colours,
      series: [
        { label: 'before', colour: 'previous', width: 1.5, dash: [3, 3] },
        { label: 'setpoint', colour: 'setpoint', width: 1, dash: [6, 4] },
        { label: 'measured', colour: 'measured', width: 2 },
      ],
      zeroT: () => 0,
      range: () => [0, chart?.data[0].at(-1) ?? 1],
    });

  function saveCsv(): void {
    const step = pairs.get(keyOf(model.choice))?.current.step;
    if (step === undefined) return;
    const { quantity } = loopOf(model.choice);
    const { setpoint, measured } = step.samples;
    const content = csv([
      { name: 't_s', values: measured.map((_, index) => index * step.periodS) },
      { name: `setpoint_${quantity}`, values: setpoint },
      { name: `measured_${quantity}`, values: measured },
    ]);
    offerFile(`${step.unit}-${step.loop}-step.csv`, 'text/csv', content);
  }

  return {
    element: element(
      'section',
      { class: 'card step', 'aria-label': 'Step response' },
      element('header', {}, element('h2', {}, 'Step response'), download),
      form.element,
      host,
      table,
    ),
    update,
    take(step, gains) {
      pairs.set(keyOf(step), rememberStep(pairs.get(keyOf(step)), step, gains));
      update();
    },
  };
}

function gainsTag({ gains: { kp, ki, kd } }: RememberedStep): HTMLElement {
  return element('small', {}, `${kp} · ${ki} · ${kd}`);
}

function withUnit(value: number | null, decimals: number, unit: string): string {
  return value === null ? '–' : `${fixed(value, decimals)} ${unit}`;
}

function milliseconds(value: number | null): string {
  return withUnit(value === null ? null : value * 1000, value !== null && value < 0.1 ? 1 : 0, 'ms');
}
