import { useSignal, useSignalEffect } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type uPlot from 'uplot';
import { csv } from '../model/csv.js';
import { loopOf } from '../model/loop-choice.js';
import { fixed } from '../model/numbers.js';
import { PlotWindow } from '../model/plot-window.js';
import { emptyColumns, SERIES } from '../model/telemetry-buffer.js';
import { useConsole } from '../parts/console.js';
import { offerFile } from '../parts/offer-file.js';
import { createChart } from './chart.js';
import { LoopChooser } from './loop-chooser.js';
import { drawMarks } from './plot-marks.js';

const SPANS_S = [5, 15, 60, 120];
const OUTPUT_SERIES = 3;

/** Setpoint, measured value and output of the chosen loop on one time axis. */
export function PlotPanel() {
  const { model, colours } = useConsole();
  const { telemetry } = model;
  const view = useMemo(() => new PlotWindow(15), []);
  const columns = useMemo(emptyColumns, []);
  const turns = useSignal(0);
  const showsOutput = useSignal(false);
  const keepsZero = useSignal(true);
  const hovered = useSignal<number | null>(null);
  const host = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot>(undefined);
  const { quantity, outputQuantity, title } = loopOf(model.choice.value);
  turns.value;

  const then = (act: () => void) => () => {
    act();
    turns.value += 1;
  };

  useEffect(() => {
    if (host.current === null) return;
    chart.current = createChart({
      host: host.current,
      colours,
      series: [
        { label: 'setpoint', colour: 'setpoint', dash: [6, 4] },
        { label: 'measured', colour: 'measured', width: 2 },
        { label: 'output', colour: 'output', width: 1, scale: 'output', show: false },
      ],
      zeroT: () => view.zeroT,
      range: () => view.range,
      showsOutput: () => showsOutput.peek(),
      keepsZero: () => keepsZero.peek(),
      onZoom: (fromT, toT) => then(() => view.zoom(fromT, toT))(),
      onCursor: index => {
        hovered.value = index;
      },
      draw: (plot, palette) => drawMarks(plot, palette, telemetry.marks, model.choice.peek().unit),
    });
    return () => chart.current?.destroy();
  }, []);

  useSignalEffect(() => {
    const shown = showsOutput.value;
    if (chart.current?.series[OUTPUT_SERIES]?.show !== shown) {
      chart.current?.setSeries(OUTPUT_SERIES, { show: shown });
    }
  });
  useSignalEffect(() => {
    telemetry.frame.value;
    turns.value;
    keepsZero.value;
    view.runTo(telemetry.nowT);
    const { unit, loop } = model.choice.value;
    telemetry.buffer.read(unit, loop, ...view.range, columns);
    chart.current?.setData([columns.t, columns.setpoint, columns.measured, columns.output]);
  });

  /** What the plot shows, and no sample beyond its edges. */
  function saveCsv(): void {
    const [fromT, toT] = view.range;
    const inside = (_: unknown, index: number) => {
      const t = columns.t[index] ?? Number.NaN;
      return t >= fromT && t <= toT;
    };
    const content = csv([
      { name: 't_s', values: columns.t.filter(inside).map(t => Number((t - view.zeroT).toFixed(4))) },
      { name: `setpoint_${quantity}`, values: columns.setpoint.filter(inside) },
      { name: `measured_${quantity}`, values: columns.measured.filter(inside) },
      ...(showsOutput.value
        ? [{ name: `output_${outputQuantity}`, values: columns.output.filter(inside) }]
        : []),
    ]);
    const { unit, loop } = model.choice.value;
    offerFile(`${unit}-${loop}.csv`, 'text/csv', content);
  }

  return (
    <section class="card plot" aria-label="Plot">
      <LoopChooser />
      <Legend columns={columns} hovered={hovered} showsOutput={showsOutput.value} />
      <div
        class="chart"
        role="img"
        aria-label={`${title}: setpoint and measured value over time`}
        ref={host}
      />
      <div class="toolbar">
        <p class="hint">Drag across the plot to zoom.</p>
        <span class="spring" />
        <div class="segments">
          {SPANS_S.map(seconds => (
            <button
              type="button"
              key={seconds}
              aria-pressed={seconds === view.spanS}
              onClick={then(() => view.span(seconds))}
            >
              {seconds} s
            </button>
          ))}
        </div>
        {view.isHeld && (
          <>
            <button type="button" aria-label="Back" onClick={then(() => view.pan(-0.5))}>
              ◀
            </button>
            <button type="button" aria-label="Forth" onClick={then(() => view.pan(0.5))}>
              ▶
            </button>
          </>
        )}
        <button
          type="button"
          aria-pressed={view.isHeld}
          onClick={then(() => (view.isHeld ? view.goOn() : view.pause()))}
        >
          {view.isHeld ? 'Go on' : 'Pause'}
        </button>
        <button
          type="button"
          aria-pressed={keepsZero.value}
          onClick={then(() => {
            keepsZero.value = !keepsZero.value;
          })}
        >
          Zero
        </button>
        <button
          type="button"
          aria-pressed={showsOutput.value}
          onClick={then(() => {
            showsOutput.value = !showsOutput.value;
          })}
        >
          Output
        </button>
        <button type="button" onClick={saveCsv}>
          CSV
        </button>
      </div>
    </section>
  );
}

interface LegendProps {
  readonly columns: ReturnType<typeof emptyColumns>;
  readonly hovered: { readonly value: number | null };
  readonly showsOutput: boolean;
}

/** The values under the cursor, or the newest. */
function Legend({ columns, hovered, showsOutput }: LegendProps) {
  const { model } = useConsole();
  model.telemetry.frame.value;
  const { quantity, outputQuantity } = loopOf(model.choice.value);
  const index = hovered.value ?? columns.t.length - 1;
  const [setpoint, measured] = [columns.setpoint[index], columns.measured[index]];
  const error = setpoint == null || measured == null ? null : setpoint - measured;
  return (
    <div class="legend" data-output={showsOutput || undefined}>
      {SERIES.map(series => (
        <span class={`key ${series}`} key={series}>
          {series}
          <span class="value" data-unit={series === 'output' ? outputQuantity : quantity}>
            {fixed(columns[series][index], 3)}
          </span>
        </span>
      ))}
      <span class="key error">
        error
        <span class="value" data-unit={quantity}>
          {fixed(error, 3)}
        </span>
      </span>
    </div>
  );
}
