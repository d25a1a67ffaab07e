import { useSignal, useSignalEffect } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type uPlot from 'uplot';
import type { Loop } from '../../core/units.js';
import { type LoopChoice, loopOf } from '../model/loop-choice.js';
import { fixed } from '../model/numbers.js';
import type { PlotSettings } from '../model/plot-window.js';
import { type Columns, emptyColumns, SERIES } from '../model/telemetry-buffer.js';
import { useConsole, useModel } from '../parts/parts.js';
import { createChart } from './chart.js';
import { drawMarks, drawPicks, listenToGestures } from './plot-drawing.js';

const OUTPUT_SERIES = 3;

/** Setpoint, measured value and output of one loop on the panel's time axis. */
export function LoopPlot({
  choice,
  settings,
}: {
  readonly choice: LoopChoice;
  readonly settings: PlotSettings;
}) {
  const { model, palette } = useConsole();
  const { telemetry } = model;
  const { view, showsOutput, keepsZero, locksY, picks } = settings;
  const columns = useMemo(emptyColumns, []);
  const hovered = useSignal<number | null>(null);
  const host = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot>(undefined);
  const lockedY = useRef<readonly [number, number]>(undefined);
  const loop = loopOf(choice);

  useEffect(() => {
    if (host.current === null) return;
    const made = createChart({
      host: host.current,
      palette,
      quantity: () => loop.quantity,
      outputQuantity: () => loop.outputQuantity,
      series: [
        { label: 'setpoint', colour: 'setpoint', dash: [6, 4] },
        { label: 'measured', colour: 'measured', width: 2 },
        { label: 'output', colour: 'output', width: 1, scale: 'output', show: false },
      ],
      zeroT: () => view.zeroT,
      range: () => view.range,
      showsOutput: () => showsOutput.peek(),
      keepsZero: () => keepsZero.peek(),
      lockedY: () => lockedY.current,
      onZoom: (fromT, toT) => view.zoom(fromT, toT),
      onCursor: index => {
        hovered.value = index;
      },
      draw: (plot, colours) => {
        drawMarks(plot, colours, telemetry.marks, choice.unit);
        drawPicks(plot, colours, picks.peek());
      },
    });
    listenToGestures(made, {
      onZoom: (t, factor) => view.zoomAround(t, factor),
      onPick: t => settings.pick(t),
      onReset: () => {
        picks.value = [];
        view.goOn();
      },
    });
    chart.current = made;
    return () => made.destroy();
  }, []);

  useSignalEffect(() => {
    const { min, max } = chart.current?.scales.y ?? {};
    lockedY.current = locksY.value && min != null && max != null ? [min, max] : undefined;
  });
  useSignalEffect(() => {
    const shown = showsOutput.value;
    if (chart.current?.series[OUTPUT_SERIES]?.show === shown) return;
    chart.current?.setSeries(OUTPUT_SERIES, { show: shown });
  });
  useSignalEffect(() => {
    telemetry.frame.value;
    keepsZero.value;
    locksY.value;
    picks.value;
    view.runTo(telemetry.nowT);
    telemetry.buffer.read(choice.unit, choice.loop, ...view.range, columns);
    chart.current?.setData([columns.t, columns.setpoint, columns.measured, columns.output]);
  });

  return (
    <div>
      <Readout loop={loop} columns={columns} hovered={hovered} settings={settings} />
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
  readonly hovered: { readonly value: number | null };
  readonly settings: PlotSettings;
}

/** The values under the cursor or the newest, and what changed between two picked moments. */
export function Readout({ loop: { quantity, outputQuantity }, columns, hovered, settings }: ReadoutProps) {
  const model = useModel();
  model.telemetry.frame.value;
  settings.view.range;
  const index = hovered.value ?? columns.t.length - 1;
  const [setpoint, measured] = [columns.setpoint[index], columns.measured[index]];
  const error = setpoint == null || measured == null ? null : setpoint - measured;
  return (
    <div class="legend" data-output={settings.showsOutput.value || undefined}>
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
      <Between columns={columns} hovered={hovered.value} picks={settings.picks.value} unit={quantity} />
    </div>
  );
}

interface BetweenProps {
  readonly columns: Columns;
  readonly hovered: number | null;
  readonly picks: readonly number[];
  readonly unit: string;
}

/** The difference between the first pick and the second, or the cursor. */
function Between({ columns, hovered, picks, unit }: BetweenProps) {
  const [fromT, toT = hovered === null ? undefined : columns.t[hovered]] = picks;
  if (fromT === undefined || toT === undefined) return null;
  const at = (t: number) => columns.measured[columns.t.findIndex(one => one >= t)];
  const [from, to] = [at(fromT), at(toT)];
  return (
    <span class="key delta">
      Δ {fixed(toT - fromT, 3)} s
      <span class="value" data-unit={unit}>
        {from == null || to == null ? '–' : fixed(to - from, 3)}
      </span>
    </span>
  );
}
