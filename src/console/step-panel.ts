import type uPlot from 'uplot';
import { EXCITATION_PERIOD_S, type Excitation, type Gains, unitNamed } from '../units.js';
import { ActGroup } from './act-group.js';
import type { Api } from './api.js';
import { createChart } from './chart.js';
import { csv } from './csv.js';
import { element, offerFile, setAttribute, setText } from './dom.js';
import type { Model } from './model.js';
import { fixed } from './numbers.js';
import type { Colours } from './palette.js';
import type { Panel } from './panel.js';
import type { Step, StepFigures } from './robot-state.js';
import { overlay, type RememberedStep, rememberStep, type StepPair, stepCurve } from './step-memory.js';
import type { LoopChoice } from './unit-card.js';

const HEIGHT_PX = 200;

const FIGURES: readonly { name: keyof StepFigures; title: string; text: (value: number | null) => string }[] =
  [
    { name: 'overshootPercent', title: 'Overshoot', text: value => withUnit(value, 1, '%') },
    { name: 'riseS', title: 'Rise', text: milliseconds },
    { name: 'settlingS', title: 'Settling', text: milliseconds },
    { name: 'steadyError', title: 'Steady error', text: value => fixed(value, 4) },
  ];

export interface StepPanel extends Panel {
  take(step: Step, gains: Gains): void;
}

/** Excites the chosen loop in debug mode, and shows its newest step over the one of the gains before. */
export function createStepPanel(model: Model, api: Api, choice: LoopChoice, colours: Colours): StepPanel {
  const pairs = new Map<string, StepPair>();
  const key = () => `${choice.unit}/${choice.loop}`;
  const host = element('div', {
    class: 'chart',
    role: 'img',
    'aria-label': 'Captured step, measured from where it began',
  });
  const table = element('table', { class: 'figures' });
  const hint = element('p', { class: 'hint' });
  const amplitude = element('input', {
    type: 'text',
    class: 'value',
    inputmode: 'decimal',
    autocomplete: 'off',
    'aria-label': 'Amplitude',
  });
  const period = element('input', {
    type: 'text',
    class: 'value',
    inputmode: 'decimal',
    autocomplete: 'off',
    'aria-label': 'Period',
    value: String(EXCITATION_PERIOD_S.default),
  });
  const unitLabel = element('span', { class: 'unit-of' });
  const group = new ActGroup('Excitation', 'excitation', update);
  const start = element('button', { type: 'submit', class: 'primary' }, 'Excite');
  const end = element('button', { type: 'button', onclick: () => excite(0) }, 'End');
  const download = element('button', { type: 'button', onclick: saveCsv }, 'CSV');
  const form = element(
    'form',
    {
      class: 'fields',
      novalidate: true,
      onsubmit: event => {
        event.preventDefault();
        excite(Number(amplitude.value));
      },
    },
    element('label', {}, 'Amplitude', amplitude, unitLabel),
    element('label', {}, 'Period', period, element('span', { class: 'unit-of' }, 's')),
    start,
    end,
    element('span', { class: 'spring' }),
    download,
  );
  group.fill(form);
  let chart: uPlot | undefined;
  let suggestedFor = '';

  const loop = () => {
    const found = unitNamed(choice.unit).loops.find(({ name }) => name === choice.loop);
    if (found === undefined) throw new TypeError(`no loop named ${choice.loop}`);
    return found;
  };

  function excite(size: number): void {
    const body: Excitation = { loop: choice.loop, amplitude: size, periodS: Number(period.value) };
    void group.act(size === 0 ? 'end' : 'excite', () => api.post(`/api/${choice.unit}/excitation`, body));
  }

  function update(): void {
    const { quantity, maxAmplitude, title } = loop();
    const unit = unitNamed(choice.unit);
    const debugging = model.status?.[choice.unit].mode === 'debug';
    if (suggestedFor !== key()) amplitude.value = String(maxAmplitude / 4);
    suggestedFor = key();
    setText(unitLabel, `${quantity}, at most ${maxAmplitude}`);
    for (const control of [amplitude, period, start, end]) setAttribute(control, 'disabled', !debugging);
    setAttribute(start, 'aria-busy', group.pending === 'excite');
    setAttribute(end, 'aria-busy', group.pending === 'end');
    const pair = pairs.get(key());
    setAttribute(download, 'disabled', pair === undefined);
    setAttribute(host, 'hidden', pair === undefined);
    setText(
      hint,
      !debugging && pair === undefined
        ? `Put the ${unit.title.toLowerCase()} in debug to excite ${title} and see its step.`
        : pair === undefined
          ? 'Every edge of the excitation is captured and shown here.'
          : '',
    );
    setAttribute(hint, 'hidden', hint.textContent === '');
    showFigures(pair);
    if (pair?.current !== undefined) showCurves(pair, pair.current);
  }

  function showFigures(pair: StepPair | undefined): void {
    const head = (text: string, remembered: RememberedStep | undefined) =>
      element(
        'th',
        { scope: 'col' },
        remembered === undefined ? text : `${text} ${gainsText(remembered.gains)}`,
      );
    const cells = (remembered: RememberedStep | undefined, { name, text }: (typeof FIGURES)[number]) =>
      element('td', {}, remembered === undefined ? '' : text(remembered.step.figures[name]));
    setAttribute(table, 'hidden', pair === undefined);
    table.replaceChildren(
      element(
        'thead',
        {},
        element('tr', {}, element('td'), head('now', pair?.current), head('before', pair?.previous)),
      ),
      element(
        'tbody',
        {},
        ...FIGURES.map(figure =>
          element(
            'tr',
            {},
            element('th', { scope: 'row' }, figure.title),
            cells(pair?.current, figure),
            cells(pair?.previous, figure),
          ),
        ),
      ),
    );
  }

  function showCurves(pair: StepPair, current: RememberedStep): void {
    const data = overlay(stepCurve(current.step), pair.previous && stepCurve(pair.previous.step));
    chart ??= createChart({
      host,
      colours,
      heightPx: HEIGHT_PX,
      series: [
        { label: 'setpoint', colour: 'setpoint', dash: [6, 4] },
        { label: 'measured', colour: 'measured', width: 2 },
        { label: 'before', colour: 'previous', width: 1.5, dash: [2, 3] },
      ],
      zeroT: () => 0,
      range: () => [0, chart?.data[0].at(-1) ?? 1],
    });
    chart.setData([data[0], data[1], data[2], data[3]]);
  }

  function saveCsv(): void {
    const current = pairs.get(key())?.current?.step;
    if (current === undefined) return;
    const { quantity } = loop();
    const { samples, periodS } = current;
    const t = samples.measured.map((_, index) => index * periodS);
    offerFile(
      `${current.unit}-${current.loop}-step.csv`,
      'text/csv',
      csv([
        { name: 't_s', values: t },
        { name: `setpoint_${quantity}`, values: samples.setpoint },
        { name: `measured_${quantity}`, values: samples.measured },
      ]),
    );
  }

  return {
    element: element(
      'section',
      { class: 'card step', 'aria-label': 'Step response' },
      element('h2', {}, 'Step'),
      group.element,
      hint,
      host,
      table,
    ),
    update,
    take(step, gains) {
      const at = `${step.unit}/${step.loop}`;
      pairs.set(at, rememberStep(pairs.get(at) ?? {}, step, gains));
      if (at === key()) update();
    },
  };
}

function gainsText({ kp, ki, kd }: Gains): string {
  return `${kp} / ${ki} / ${kd}`;
}

function withUnit(value: number | null, decimals: number, unit: string): string {
  return value === null ? '–' : `${fixed(value, decimals)} ${unit}`;
}

function milliseconds(value: number | null): string {
  return withUnit(value === null ? null : value * 1000, value !== null && value < 0.1 ? 1 : 0, 'ms');
}
