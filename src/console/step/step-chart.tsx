import { useEffect, useRef } from 'preact/hooks';
import type uPlot from 'uplot';
import type { RememberedStep } from '../../schemas/step.js';
import type { Tune } from '../../schemas/tune.js';
import { onOneAxis, predictedCurve, stepCurves } from '../model/step-curve.js';
import type { Palette } from '../parts/palette.js';
import { useConsole } from '../parts/parts.js';
import { type ChartUnit, createChart } from '../plot/chart.js';

/** Colours of the ticked runs, in the order in which they were ticked. */
export const RUN_COLOURS = [
  'previous',
  'output',
  'target',
  'good',
  'mark',
] as const satisfies readonly (keyof Palette)[];

interface StepChartProps {
  readonly main: RememberedStep | undefined;
  readonly under: readonly RememberedStep[];
  readonly quantity: ChartUnit;
  readonly predicted: Tune['predicted'] | undefined;
}

/** Draws a step over other steps and over its prediction. */
export function StepChart({ main, under, quantity, predicted }: StepChartProps) {
  const { palette } = useConsole();
  const host = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot>(undefined);
  const shown = useRef(quantity);
  shown.current = quantity;
  useEffect(() => {
    const whole = main ?? under[0];
    if (host.current === null || whole === undefined) return;
    chart.current ??= createChart({
      host: host.current,
      palette,
      series: [
        ...RUN_COLOURS.map(colour => ({ label: colour, colour, width: 1.5 })),
        { label: 'setpoint', colour: 'setpoint', width: 1, dash: [6, 4] },
        { label: 'measured', colour: 'measured', width: 2 },
        { label: 'predicted', colour: 'ink', width: 2, dash: [2, 6] },
      ],
      quantity: () => shown.current,
    });
    const { setpoint } = stepCurves(whole);
    chart.current.setData(
      onOneAxis([
        ...RUN_COLOURS.map((_, index) => under[index] && stepCurves(under[index]).measured),
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
