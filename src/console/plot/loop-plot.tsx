import { useSignal, useSignalEffect } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type uPlot from 'uplot';
import type { Loop } from '../../core/units.js';
import { type LoopChoice, loopOf } from '../model/loop-choice.js';
import { fixed } from '../model/numbers.js';
import type { PlotSettings } from '../model/plot-window.js';
import { type Columns, gapsIn, SERIES } from '../model/telemetry.js';
import { useModel, write } from '../parts/parts.js';
import { createChart } from './chart.js';
import { drawGaps, drawMarks, drawPicks, listenToGestures } from './plot-drawing.js';

/** The series that a button shows. */
const [OUTPUT_SERIES, RETRIES_SERIES] = [3, 4];
/** The decimals of a value, by its unit. */
const DECIMALS: Readonly<Record<string, number>> = { s: 2, '/s': 0 };
const NO_COLUMNS: Columns = { t: [], setpoint: [], measured: [], output: [], retries: [] };

/** Setpoint, measured value and output of one loop on the panel's time axis. */
export function LoopPlot({ choice, settings }: { choice: LoopChoice; settings: PlotSettings }) {
  const { telemetry } = useModel();
  const { view, showsOutput, showsRetries, keepsZero, locksY, picks } = settings;
  const columns = useSignal(NO_COLUMNS);
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
        { colour: 'edited', width: 1, scale: 'retries', show: false },
      ],
      lockedY: () => lockedY.current,
      onCursor: index => write(hovered, index),
      draw: plot => {
        const shown = columns.peek();
        const lastT = shown.t.at(-1) ?? 0;
        drawGaps(plot, gapsIn(shown, lastT === telemetry.buffer.newestT ? telemetry.nowT : lastT));
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
  useSignalEffect(() => chart.current?.setSeries(OUTPUT_SERIES, { show: showsOutput.value }));
  useSignalEffect(() => chart.current?.setSeries(RETRIES_SERIES, { show: showsRetries.value }));
  useSignalEffect(() => {
    telemetry.frame.value;
    keepsZero.value;
    locksY.value;
    picks.value;
    view.runTo(telemetry.nowT);
    const read = telemetry.buffer.read(choice.unit, choice.loop, ...view.range);
    columns.value = read;
    chart.current?.setData([read.t, read.setpoint, read.measured, read.output, read.retries]);
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
 * cursor. Says whether the values are live, and their time.
 */
function Readout({ loop: { quantity, outputQuantity }, columns, hovered, settings }: ReadoutProps) {
  const isLive = useModel().fresh.value && hovered === null && !settings.view.isHeld;
  const index = hovered ?? columns.t.length - 1;
  const [setpoint, measured] = [columns.setpoint[index], columns.measured[index]];
  const atS = (columns.t[index] ?? 0) - settings.view.zeroT;
  const shown = SERIES.filter(series => series !== 'output' || settings.showsOutput.value);
  const difference = (from?: number | null, to?: number | null) =>
    from == null || to == null ? null : to - from;
  const [fromT, toT = hovered === null ? undefined : columns.t[hovered]] = settings.picks.value;
  const measuredAt = (t: number) => columns.measured[columns.t.findIndex(one => one >= t)];
  const key = (name: string, value: number | null | undefined, text = name, unit: string = quantity) => (
    <span class={`key dim ${name}`} key={name}>
      {text}
      <span class="value" data-unit={unit}>
        {fixed(value, DECIMALS[unit] ?? 3)}
      </span>
    </span>
  );
  return (
    <div class="row">
      {isLive ? key('live', atS, 'live', 's') : key('past', atS, 'not live', 's')}
      {shown.map(series =>
        key(series, columns[series][index], series, series === 'output' ? outputQuantity : quantity),
      )}
      {key('error', difference(measured, setpoint))}
      {settings.showsRetries.value && key('retries', columns.retries[index], 'bus retries', '/s')}
      {fromT !== undefined &&
        toT !== undefined &&
        key('delta', difference(measuredAt(fromT), measuredAt(toT)), `Δ ${fixed(toT - fromT, 3)} s`)}
    </div>
  );
}
