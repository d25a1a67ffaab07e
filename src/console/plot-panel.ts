import type uPlot from 'uplot';
import { UNIT_LIST, unitNamed } from '../units.js';
import { createChart } from './chart.js';
import { csv } from './csv.js';
import { element, offerFile, setAttribute, setText } from './dom.js';
import { fixed } from './numbers.js';
import type { Colours, Palette } from './palette.js';
import type { Panel } from './panel.js';
import { emptyColumns, SERIES, type TelemetryBuffer } from './telemetry-buffer.js';
import type { Mark } from './timeline.js';
import type { LoopChoice } from './unit-card.js';

const WINDOWS_S = [5, 15, 60, 120];
const HEIGHT_PX = 300;
const NARROW_HEIGHT_PX = 220;

export interface PlotPanel extends Panel {
  /** Called for each frame of the screen in which something new is known. */
  draw(nowT: number): void;
}

/** Setpoint, measured value and output of the chosen loop on one time axis. */
export function createPlotPanel(
  buffer: TelemetryBuffer,
  marks: readonly Mark[],
  choice: LoopChoice,
  choose: (choice: LoopChoice) => void,
  colours: Colours,
): PlotPanel {
  const columns = emptyColumns();
  let windowS = 15;
  let nowT = 0;
  /** What is looked at while it does not run along. */
  let held: { fromT: number; toT: number; zeroT: number } | undefined;
  let showsOutput = false;
  let hovered: number | null = null;

  const host = element('div', { class: 'chart', role: 'img' });
  const chips = UNIT_LIST.map(unit =>
    element(
      'div',
      { class: 'chips', role: 'group', 'aria-label': `Plotted loop, ${unit.title}` },
      element('span', { class: 'unit-name' }, unit.title),
      ...unit.loops.map(loop =>
        element(
          'button',
          {
            type: 'button',
            'data-loop': `${unit.name}/${loop.name}`,
            onclick: () => choose({ unit: unit.name, loop: loop.name }),
          },
          loop.title,
        ),
      ),
    ),
  );
  const readouts = SERIES.map(series => ({ series, value: element('output', {}, '–') }));
  const error = element('output', {}, '–');
  const legend = element(
    'div',
    { class: 'legend' },
    ...readouts.map(({ series, value }) => element('span', { class: `key ${series}` }, series, value)),
    element('span', { class: 'key error' }, 'error', error),
  );
  const pause = element('button', { type: 'button', 'aria-pressed': 'false', onclick: togglePause }, 'Pause');
  const output = element(
    'button',
    { type: 'button', 'aria-pressed': 'false', onclick: toggleOutput },
    'Output',
  );
  const windows = WINDOWS_S.map(seconds =>
    element(
      'button',
      { type: 'button', 'data-window': seconds, onclick: () => zoomTo(seconds) },
      `${seconds} s`,
    ),
  );
  const download = element('button', { type: 'button', onclick: saveCsv }, 'CSV');
  const hint = element('span', { class: 'hint' }, 'Drag in the plot to zoom');

  let chart: uPlot | undefined;

  function range(): [number, number] {
    return held === undefined ? [nowT - windowS, nowT] : [held.fromT, held.toT];
  }
  const zeroT = () => held?.zeroT ?? nowT;

  function togglePause(): void {
    held = held === undefined ? { fromT: nowT - windowS, toT: nowT, zeroT: nowT } : undefined;
    refresh();
  }
  function toggleOutput(): void {
    showsOutput = !showsOutput;
    setAttribute(output, 'aria-pressed', String(showsOutput));
    chart?.setSeries(3, { show: showsOutput });
    refresh();
  }
  function zoomTo(seconds: number): void {
    windowS = seconds;
    if (held !== undefined) held = { ...held, fromT: held.toT - seconds };
    refresh();
  }
  function zoomIn(fromT: number, toT: number): void {
    held = { fromT, toT, zeroT: zeroT() };
    refresh();
  }
  function refresh(): void {
    panel.update();
    show();
  }

  function show(): void {
    const [fromT, toT] = range();
    buffer.read(choice.unit, choice.loop, fromT, toT, columns);
    chart?.setData([columns.t, columns.setpoint, columns.measured, columns.output]);
    showReadouts();
  }

  function showReadouts(): void {
    const index = hovered ?? columns.t.length - 1;
    const decimals = 3;
    for (const { series, value } of readouts) setText(value, fixed(columns[series][index], decimals));
    const setpoint = columns.setpoint[index] ?? Number.NaN;
    setText(error, fixed(setpoint - (columns.measured[index] ?? Number.NaN), decimals));
  }

  function saveCsv(): void {
    const loop = chosenLoop();
    const start = zeroT();
    const columnsOut = [
      { name: 't_s', values: columns.t.map(t => Number((t - start).toFixed(4))) },
      { name: `setpoint_${loop.quantity}`, values: columns.setpoint },
      { name: `measured_${loop.quantity}`, values: columns.measured },
      { name: `output_${loop.outputQuantity}`, values: columns.output },
    ];
    offerFile(`${choice.unit}-${choice.loop}.csv`, 'text/csv', csv(columnsOut));
  }

  function chosenLoop() {
    const loop = unitNamed(choice.unit).loops.find(({ name }) => name === choice.loop);
    if (loop === undefined) throw new TypeError(`no loop named ${choice.loop}`);
    return loop;
  }

  function drawMarks(plot: uPlot, palette: Palette): void {
    const { ctx, bbox } = plot;
    const [fromT, toT] = range();
    ctx.save();
    ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
    ctx.fillStyle = palette.mark;
    ctx.strokeStyle = palette.mark;
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([2 * devicePixelRatio, 3 * devicePixelRatio]);
    for (const mark of marks) {
      if (mark.t < fromT || mark.t > toT) continue;
      if (mark.unit !== undefined && mark.unit !== choice.unit) continue;
      const x = Math.round(plot.valToPos(mark.t, 'x', true)) + 0.5;
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
      ctx.fillText(mark.text, x + 4 * devicePixelRatio, bbox.top + 11 * devicePixelRatio);
    }
    ctx.restore();
  }

  const panel: PlotPanel = {
    element: element(
      'section',
      { class: 'card plot', 'aria-label': 'Plot' },
      element('div', { class: 'loop-chips' }, ...chips),
      element(
        'div',
        { class: 'toolbar' },
        legend,
        element('span', { class: 'spring' }),
        output,
        pause,
        element('div', { class: 'segments' }, ...windows),
        download,
      ),
      host,
      hint,
    ),
    update() {
      const { quantity, outputQuantity, title } = chosenLoop();
      for (const chip of panel.element.querySelectorAll('[data-loop]')) {
        setAttribute(
          chip,
          'aria-pressed',
          String(chip.getAttribute('data-loop') === `${choice.unit}/${choice.loop}`),
        );
      }
      for (const button of windows) {
        setAttribute(button, 'aria-pressed', String(Number(button.dataset.window) === windowS));
      }
      setAttribute(pause, 'aria-pressed', String(held !== undefined));
      setText(pause, held === undefined ? 'Pause' : 'Go on');
      setAttribute(host, 'aria-label', `${title}: setpoint and measured value over time`);
      setAttribute(legend, 'data-output', showsOutput);
      for (const { series, value } of readouts) {
        setAttribute(value, 'data-unit', series === 'output' ? outputQuantity : quantity);
      }
      setAttribute(error, 'data-unit', quantity);
    },
    draw(t) {
      nowT = t;
      chart ??= createChart({
        host,
        colours,
        heightPx: innerWidth < 600 ? NARROW_HEIGHT_PX : HEIGHT_PX,
        series: [
          { label: 'setpoint', colour: 'setpoint', dash: [6, 4] },
          { label: 'measured', colour: 'measured', width: 2 },
          { label: 'output', colour: 'output', width: 1, scale: 'output', show: false },
        ],
        zeroT,
        range,
        onZoom: zoomIn,
        onCursor: index => {
          hovered = index;
          showReadouts();
        },
        draw: drawMarks,
      });
      if (held === undefined) show();
    },
  };
  return panel;
}
