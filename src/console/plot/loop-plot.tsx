import { useSignal, useSignalEffect } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type uPlot from 'uplot';
import { type LoopChoice, loopOf } from '../model/loop-choice.js';
import type { PlotSettings } from '../model/plot-window.js';
import { emptyColumns } from '../model/telemetry-buffer.js';
import { useConsole } from '../parts/parts.js';
import { createChart } from './chart.js';
import { listenToGestures } from './gestures.js';
import { drawMarks, drawPicks } from './plot-marks.js';
import { Readout } from './readout.js';

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
