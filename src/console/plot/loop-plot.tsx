import { useSignal, useSignalEffect } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type uPlot from 'uplot';
import type { Loop } from '../../core/units.js';
import { type LoopChoice, loopOf } from '../model/loop-choice.js';
import { fixed } from '../model/numbers.js';
import type { PlotSettings } from '../model/plot-window.js';
import { type Columns, SERIES } from '../model/telemetry.js';
import { useModel } from '../parts/parts.js';
import { createChart } from './chart.js';
import { drawMarks, drawPicks, listenToGestures } from './plot-drawing.js';

const OUTPUT_SERIES = 3;

/** Setpoint, measured value and output of one loop on the panel's time axis. */
export function LoopPlot({ choice, settings }: { choice: LoopChoice; settings: PlotSettings }) {
  const { telemetry } = useModel();
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
      quantity: () => loop.quantity,
      outputQuantity: loop.outputQuantity,
      settings,
      series: [
        { colour: 'ink', dash: [6, 4] },
        { colour: 'accent', width: 2 },
        { colour: 'output', width: 1, scale: 'output', show: false },
      ],
      lockedY: () => lockedY.current,
      onCursor: index => {
        hovered.value = index;
      },
      draw: plot => {
        drawMarks(plot, telemetry.marks, choice.unit);
        drawPicks(plot, picks.peek());
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
  /** The index of the sample at the cursor; null without a cursor. */
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
  const shown = SERIES.filter(series => series !== 'output' || settings.showsOutput.value);
  const difference = (from?: number | null, to?: number | null) =>
    from == null || to == null ? null : to - from;
  const [fromT, toT = hovered === null ? undefined : columns.t[hovered]] = settings.picks.value;
  const measuredAt = (t: number) => columns.measured[columns.t.findIndex(one => one >= t)];
  const key = (name: string, value: number | null | undefined, text = name) => (
    <span class={`key dim ${name}`} key={name}>
      {text}
      <span class="value" data-unit={name === 'output' ? outputQuantity : quantity}>
        {fixed(value, 3)}
      </span>
    </span>
  );
  return (
    <div class="row">
      {shown.map(series => key(series, columns[series][index]))}
      {key('error', difference(measured, setpoint))}
      {fromT !== undefined &&
        toT !== undefined &&
        key('delta', difference(measuredAt(fromT), measuredAt(toT)), `Δ ${fixed(toT - fromT, 3)} s`)}
    </div>
  );
}
