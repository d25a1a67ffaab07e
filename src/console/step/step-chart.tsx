import { useEffect, useRef } from 'preact/hooks';
import type uPlot from 'uplot';
import type { RememberedStep } from '../../schemas/step.js';
import type { Tune } from '../../schemas/tune.js';
import { type DrawnRun, RUN_COLOURS } from '../model/runs.js';
import { heightOf, onOneAxis, predictedCurve, stepCurves } from '../model/step-curve.js';
import type { Palette } from '../parts/palette.js';
import { useConsole } from '../parts/parts.js';
import { type ChartUnit, createChart } from '../plot/chart.js';

/** Each curve has a dash pattern, so that curves do not differ by colour alone. */
const DASHES = [[], [8, 4], [3, 3], [8, 3, 2, 3], [2, 5]];
/** The chart shows this many settling times, if the record is long enough. */
const SETTLINGS = 4;

interface StepChartProps {
  readonly main: RememberedStep | undefined;
  readonly under: readonly DrawnRun[];
  readonly quantity: ChartUnit;
  readonly predicted: Tune['predicted'] | undefined;
}

/** Draws a step over other steps and over its prediction, with the band in which it settles and its overshoot. */
export function StepChart({ main, under, quantity, predicted }: StepChartProps) {
  const { palette } = useConsole();
  const host = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot>(undefined);
  const shown = useRef<StepChartProps>({ main, under, quantity, predicted });
  shown.current = { main, under, quantity, predicted };
  useEffect(() => {
    const whole = main ?? under[0]?.step;
    if (host.current === null || whole === undefined) return;
    chart.current ??= createChart({
      host: host.current,
      palette,
      series: [
        ...RUN_COLOURS.map((colour, index) => ({
          label: colour,
          colour,
          width: 1.5,
          dash: DASHES[index] ?? [],
        })),
        { label: 'setpoint', colour: 'setpoint', width: 1, dash: [6, 4] },
        { label: 'measured', colour: 'measured', width: 2 },
        { label: 'predicted', colour: 'ink', width: 2, dash: [2, 6] },
      ],
      quantity: () => shown.current.quantity,
      untilT: () => SETTLINGS * Math.max(...settlings(shown.current)),
      draw: (plot, colours) => {
        if (shown.current.main) drawFigures(plot, colours, shown.current.main);
        for (const run of shown.current.under) drawLabel(plot, colours, run);
      },
    });
    const { setpoint } = stepCurves(whole);
    const runs = RUN_COLOURS.map(colour => under.find(run => run.colour === colour));
    chart.current.setData(
      onOneAxis([
        ...runs.map(run => run && stepCurves(run.step).measured),
        setpoint,
        main && stepCurves(main).measured,
        predicted ? predictedCurve(predicted) : undefined,
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

/** Infinite for a step that did not settle. */
function settlings({ main, under }: StepChartProps): number[] {
  const steps = [...(main === undefined ? [] : [main]), ...under.map(({ step }) => step)];
  return steps.map(({ figures }) => figures.settlingS ?? Number.POSITIVE_INFINITY);
}

/** Shades the band around the new setpoint, and writes the overshoot at its peak. */
function drawFigures(plot: uPlot, palette: Palette, step: RememberedStep): void {
  const { ctx, bbox } = plot;
  const { bandPercent, overshootPercent, peakTimeS } = step.figures;
  const height = heightOf(step);
  const y = (percent: number) => plot.valToPos((height * percent) / 100, 'y', true);
  ctx.save();
  ctx.fillStyle = palette.measured;
  if (bandPercent !== null) {
    ctx.globalAlpha = 0.12;
    ctx.fillRect(bbox.left, y(100 + bandPercent), bbox.width, y(100 - bandPercent) - y(100 + bandPercent));
  }
  if (overshootPercent !== null && peakTimeS !== null && overshootPercent > (bandPercent ?? 0)) {
    ctx.globalAlpha = 1;
    ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
    const x = plot.valToPos(peakTimeS, 'x', true);
    ctx.fillText(`+${overshootPercent.toFixed(0)} %`, x, y(100 + overshootPercent) - 4 * devicePixelRatio);
  }
  ctx.restore();
}

/** Writes the number of a run at the end of its curve. */
function drawLabel(plot: uPlot, palette: Palette, { step, colour }: DrawnRun): void {
  const { ctx, bbox, scales } = plot;
  const { t, values } = stepCurves(step).measured;
  const last = t.findLastIndex(one => one <= (scales.x?.max ?? 0));
  ctx.save();
  ctx.fillStyle = palette[colour];
  ctx.textAlign = 'right';
  ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
  const y = plot.valToPos(values[last] ?? 0, 'y', true);
  ctx.fillText(`#${step.number}`, bbox.left + bbox.width, y - 4 * devicePixelRatio);
  ctx.restore();
}
