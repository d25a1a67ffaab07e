import { useSignal, useSignalEffect } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type uPlot from 'uplot';
import type { Loop } from '../../core/units.js';
import { type LoopChoice, loopOf } from '../model/loop-choice.js';
import { fixed } from '../model/numbers.js';
import type { PlotSettings } from '../model/plot-window.js';
import { type Columns, SERIES } from '../model/telemetry-buffer.js';
import { useConsole } from '../parts/parts.js';
import { createChart } from './chart.js';
import { drawMarks, drawPicks, listenToGestures } from './plot-drawing.js';

const OUTPUT_SERIES = 3;

interface LoopPlotProps {
  readonly choice: LoopChoice;
  readonly settings: PlotSettings;
}

/** Setpoint, measured value and output of one loop on the panel's time axis. */
export function LoopPlot({ choice, settings }: LoopPlotProps) {
  const { model, palette } = useConsole();
  const { telemetry } = model;
  const { view, showsOutput, keepsZero, locksY, picks } = settings;
  const columns = useSignal<Columns>({ t: [], setpoint: [], measured: [], output: [] });
  const hovered = useSignal<number | null>(null);
  const host = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot>(undefined);
  const lockedY = useRef<[number, number]>(undefined);
  const loop = loopOf(choice);

  useEffect(() => {
    if (host.current === null) return;
    const made = createChart({
      host: host.current,
      palette,
      quantity: () => loop.quantity,
      outputQuantity: loop.outputQuantity,
      settings,
      series: [
        { label: 'setpoint', colour: 'setpoint', dash: [6, 4] },
        { label: 'measured', colour: 'measured', width: 2 },
        { label: 'output', colour: 'output', width: 1, scale: 'output', show: false },
      ],
      lockedY: () => lockedY.current,
      onCursor: index => {
        hovered.value = index;
      },
      draw: (plot, colours) => {
        drawMarks(plot, colours, telemetry.marks, choice.unit);
        drawPicks(plot, colours, picks.peek());
      },
    });
    listenToGestures(made, settings);
    chart.current = made;
    return () => made.destroy();
  }, []);

  useSignalEffect(() => {
    const { min, max } = chart.current?.scales.y ?? {};
    lockedY.current = locksY.value && min != null && max != null ? [min, max] : undefined;
  });
  useSignalEffect(() => {
    const show = showsOutput.value;
    if (chart.current?.series[OUTPUT_SERIES]?.show !== show)
      chart.current?.setSeries(OUTPUT_SERIES, { show });
  });
  useSignalEffect(() => {
    telemetry.frame.value;
    keepsZero.value;
    locksY.value;
    picks.value;
    view.runTo(telemetry.nowT);
    const read = telemetry.buffer.read(choice.unit, choice.loop, ...view.range);
    chart.current?.setData([read.t, read.setpoint, read.measured, read.output]);
    columns.value = read;
  });

  return (
    <div>
      <Readout loop={loop} columns={columns.value} hovered={hovered.value} settings={settings} />
      <div
        class="chart"
        role="img"
        aria-label={`${loop.title}: setpoint and measured value over time`}
        ref={host}
      />
    </div>
  );
}

interface ReadoutProps {
  readonly loop: Loop;
  readonly columns: Columns;
  /** The index of the moment at the cursor. */
  readonly hovered: number | null;
  readonly settings: PlotSettings;
}

/**
 * The values at the cursor, or the newest ones; and the change from the first picked moment to the second, or to the
 * cursor.
 */
function Readout({ loop: { quantity, outputQuantity }, columns, hovered, settings }: ReadoutProps) {
  const index = hovered ?? columns.t.length - 1;
  const [setpoint, measured] = [columns.setpoint[index], columns.measured[index]];
  const difference = (from?: number | null, to?: number | null) =>
    from == null || to == null ? null : to - from;
  const [fromT, toT = hovered === null ? undefined : columns.t[hovered]] = settings.picks.value;
  const measuredAt = (t: number) => columns.measured[columns.t.findIndex(one => one >= t)];
  const shown = SERIES.filter(series => series !== 'output' || settings.showsOutput.value);
  return (
    <div class="legend">
      {shown.map(series => (
        <Key
          key={series}
          name={series}
          value={columns[series][index]}
          unit={series === 'output' ? outputQuantity : quantity}
        />
      ))}
      <Key name="error" value={difference(measured, setpoint)} unit={quantity} />
      {fromT !== undefined && toT !== undefined && (
        <Key
          name="delta"
          text={`Δ ${fixed(toT - fromT, 3)} s`}
          value={difference(measuredAt(fromT), measuredAt(toT))}
          unit={quantity}
        />
      )}
    </div>
  );
}

interface KeyProps {
  readonly name: string;
  readonly text?: string;
  readonly value: number | null | undefined;
  readonly unit: string;
}

function Key({ name, text = name, value, unit }: KeyProps) {
  return (
    <span class={`key ${name}`}>
      {text}
      <span class="value" data-unit={unit}>
        {fixed(value, 3)}
      </span>
    </span>
  );
}
