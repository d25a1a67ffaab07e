import type uPlot from 'uplot';
import { createChart } from './chart.js';
import { csv } from './csv.js';
import { element, offerFile, setAttribute, setText } from './dom.js';
import { loopOf } from './loop-choice.js';
import { createLoopChooser } from './loop-chooser.js';
import type { Model } from './model.js';
import { fixed } from './numbers.js';
import type { Colours } from './palette.js';
import type { Panel } from './panel.js';
import { drawMarks } from './plot-marks.js';
import { PlotWindow } from './plot-window.js';
import { emptyColumns, SERIES, type TelemetryBuffer } from './telemetry-buffer.js';
import type { Mark } from './timeline.js';

const SPANS_S = [5, 15, 60, 120];
const OUTPUT_SERIES = 3;

export interface PlotPanel extends Panel {
  /** Up to the newest sample there is. */
  runTo(newestT: number): void;
}

/** Setpoint, measured value and output of the chosen loop on one time axis. */
export function createPlotPanel(
  model: Model,
  buffer: TelemetryBuffer,
  marks: readonly Mark[],
  colours: Colours,
): PlotPanel {
  const view = new PlotWindow(15);
  const columns = emptyColumns();
  let showsOutput = false;
  let keepsZero = true;
  let hovered: number | null = null;

  const host = element('div', { class: 'chart', role: 'img' });
  const chooser = createLoopChooser(model);
  const readouts = SERIES.map(series => ({ series, value: element('span', { class: 'value' }, '–') }));
  const error = element('span', { class: 'value' }, '–');
  const legend = element(
    'div',
    { class: 'legend' },
    ...readouts.map(({ series, value }) => element('span', { class: `key ${series}` }, series, value)),
    element('span', { class: 'key error' }, 'error', error),
  );
  const button = (text: string, act: () => void, label?: string) =>
    element('button', { type: 'button', 'aria-label': label, onclick: () => then(act) }, text);
  const output = button('Output', () => {
    showsOutput = !showsOutput;
  });
  const zero = button('Zero', () => {
    keepsZero = !keepsZero;
  });
  const pause = button('Pause', () => (view.isHeld ? view.goOn() : view.pause()));
  const back = button('◀', () => view.pan(-0.5), 'Back');
  const forth = button('▶', () => view.pan(0.5), 'Forth');
  const spans = SPANS_S.map(seconds => ({
    seconds,
    choose: button(`${seconds} s`, () => view.span(seconds)),
  }));
  const download = element('button', { type: 'button', onclick: saveCsv }, 'CSV');
  let chart: uPlot | undefined;

  function then(act: () => void): void {
    act();
    update();
    show();
  }

  function show(): void {
    const [fromT, toT] = view.range;
    const { unit, loop } = model.choice;
    buffer.read(unit, loop, fromT, toT, columns);
    chart?.setData([columns.t, columns.setpoint, columns.measured, columns.output]);
    showReadouts();
  }

  function showReadouts(): void {
    const index = hovered ?? columns.t.length - 1;
    for (const { series, value } of readouts) setText(value, fixed(columns[series][index], 3));
    const [setpoint, measured] = [columns.setpoint[index], columns.measured[index]];
    setText(error, setpoint == null || measured == null ? '–' : fixed(setpoint - measured, 3));
  }

  /** What the plot shows, and no sample beyond its edges. */
  function saveCsv(): void {
    const [fromT, toT] = view.range;
    const { quantity, outputQuantity } = loopOf(model.choice);
    const inside = (_: unknown, index: number) => {
      const t = columns.t[index] ?? Number.NaN;
      return t >= fromT && t <= toT;
    };
    const content = csv([
      { name: 't_s', values: columns.t.filter(inside).map(t => Number((t - view.zeroT).toFixed(4))) },
      { name: `setpoint_${quantity}`, values: columns.setpoint.filter(inside) },
      { name: `measured_${quantity}`, values: columns.measured.filter(inside) },
      ...(showsOutput ? [{ name: `output_${outputQuantity}`, values: columns.output.filter(inside) }] : []),
    ]);
    offerFile(`${model.choice.unit}-${model.choice.loop}.csv`, 'text/csv', content);
  }

  function update(): void {
    const { quantity, outputQuantity, title } = loopOf(model.choice);
    chooser.update();
    for (const { seconds, choose } of spans) {
      setAttribute(choose, 'aria-pressed', String(seconds === view.spanS));
    }
    setText(pause, view.isHeld ? 'Go on' : 'Pause');
    setAttribute(pause, 'aria-pressed', String(view.isHeld));
    setAttribute(output, 'aria-pressed', String(showsOutput));
    setAttribute(zero, 'aria-pressed', String(keepsZero));
    for (const control of [back, forth]) setAttribute(control, 'hidden', !view.isHeld);
    setAttribute(legend, 'data-output', showsOutput);
    for (const { series, value } of readouts) {
      setAttribute(value, 'data-unit', series === 'output' ? outputQuantity : quantity);
    }
    setAttribute(error, 'data-unit', quantity);
    setAttribute(host, 'aria-label', `${title}: setpoint and measured value over time`);
    if (chart?.series[OUTPUT_SERIES]?.show !== showsOutput)
      chart?.setSeries(OUTPUT_SERIES, { show: showsOutput });
  }

  const createPlot = () =>
    createChart({
      host,
      colours,
      series: [
        { label: 'setpoint', colour: 'setpoint', dash: [6, 4] },
        { label: 'measured', colour: 'measured', width: 2 },
        { label: 'output', colour: 'output', width: 1, scale: 'output', show: false },
      ],
      zeroT: () => view.zeroT,
      range: () => view.range,
      showsOutput: () => showsOutput,
      keepsZero: () => keepsZero,
      onZoom: (fromT, toT) => then(() => view.zoom(fromT, toT)),
      onCursor: index => {
        hovered = index;
        showReadouts();
      },
      draw: (plot, palette) => drawMarks(plot, palette, marks, model.choice.unit),
    });

  return {
    element: element(
      'section',
      { class: 'card plot', 'aria-label': 'Plot' },
      chooser.element,
      legend,
      host,
      element(
        'div',
        { class: 'toolbar' },
        element('p', { class: 'hint' }, 'Drag across the plot to zoom.'),
        element('span', { class: 'spring' }),
        element('div', { class: 'segments' }, ...spans.map(({ choose }) => choose)),
        back,
        forth,
        pause,
        zero,
        output,
        download,
      ),
    ),
    update,
    runTo(newestT) {
      view.runTo(newestT);
      chart ??= createPlot();
      if (!view.isHeld) show();
    },
  };
}
