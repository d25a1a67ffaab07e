import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import type { RememberedStep } from '../../schemas/step.js';
import type { Tune } from '../../schemas/tune.js';
import { type DrawnRun, RUN_COLOURS } from '../model/runs.js';
import { type Curve, heightOf, predictedCurve, stepCurves } from '../model/step-curve.js';
import { type ChartUnit, createChart, drawOver } from '../plot/chart.js';

/** Each curve has a dash pattern, so that curves do not differ by colour alone. */
const DASHES = [[], [8, 4], [3, 3], [8, 3, 2, 3], [2, 5]];
/** The time axis is this many settling times long, if the record is long enough. */
const SETTLINGS = 4;

interface StepChartProps {
  readonly main: RememberedStep | undefined;
  readonly under: readonly DrawnRun[];
  readonly quantity: ChartUnit;
  readonly predicted: Tune['predicted'] | undefined;
}

/** Draws a step over other steps and over its prediction, with the band in which it settles and its overshoot. */
export function StepChart(props: StepChartProps) {
  const { main, under, quantity, predicted } = props;
  const host = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot>(undefined);
  const shown = useRef(props);
  shown.current = props;
  useEffect(() => () => chart.current?.destroy(), []);
  useEffect(() => {
    const whole = main ?? under[0]?.step;
    if (host.current === null || whole === undefined) return;
    chart.current ??= createChart({
      host: host.current,
      series: [
        ...RUN_COLOURS.map((colour, index) => ({ colour, dash: DASHES[index] ?? [] })),
        { colour: 'ink', width: 1, dash: [6, 4] },
        { colour: 'accent', width: 2 },
        { colour: 'ink', width: 2, dash: [2, 6] },
      ],
      quantity: () => shown.current.quantity,
      untilT: () => SETTLINGS * Math.max(...settlings(shown.current)),
      draw: plot => {
        if (shown.current.main) drawFigures(plot, shown.current.main);
        for (const run of shown.current.under) drawLabel(plot, run);
      },
    });
    const { setpoint } = stepCurves(whole);
    const none: Curve = [[], []];
    const runs = RUN_COLOURS.map(colour => under.find(run => run.colour === colour));
    chart.current.setData(
      uPlot.join([
        ...runs.map(run => (run ? stepCurves(run.step).measured : none)),
        setpoint,
        main ? stepCurves(main).measured : none,
        predicted ? predictedCurve(predicted) : none,
      ]),
    );
  });
  return (
    <div
      class="chart"
      role="img"
      aria-label={`Captured step in ${quantity}, from the old setpoint to the new one`}
      ref={host}
    />
  );
}

/** The settling times of all shown steps. Infinite for a step that did not settle. */
function settlings({ main, under }: StepChartProps): number[] {
  const steps = [...(main === undefined ? [] : [main]), ...under.map(({ step }) => step)];
  return steps.map(({ figures }) => figures.settlingS ?? Number.POSITIVE_INFINITY);
}

/** Shades the band around the new setpoint, and writes the overshoot at its peak. */
function drawFigures(plot: uPlot, step: RememberedStep): void {
  const { bandPercent, overshootPercent, peakTimeS } = step.figures;
  const band = bandPercent ?? 0;
  const y = (percent: number) => plot.valToPos((heightOf(step) * percent) / 100, 'y', true);
  drawOver(plot, 'accent', (ctx, bbox, ratio) => {
    if (overshootPercent !== null && peakTimeS !== null && overshootPercent > band) {
      const x = plot.valToPos(peakTimeS, 'x', true);
      ctx.fillText(`+${overshootPercent.toFixed(0)} %`, x, y(100 + overshootPercent) - 4 * ratio);
    }
    ctx.globalAlpha = 0.12;
    ctx.fillRect(bbox.left, y(100 + band), bbox.width, y(100 - band) - y(100 + band));
  });
}

/** Writes the number of a run at the end of its curve. */
function drawLabel(plot: uPlot, { step, colour }: DrawnRun): void {
  const [t, values] = stepCurves(step).measured;
  const last = t.findLastIndex(one => one <= (plot.scales.x?.max ?? 0));
  drawOver(plot, colour, (ctx, bbox, ratio) => {
    ctx.textAlign = 'right';
    const y = plot.valToPos(values[last] ?? 0, 'y', true);
    ctx.fillText(`#${step.number}`, bbox.left + bbox.width, y - 4 * ratio);
  });
}
