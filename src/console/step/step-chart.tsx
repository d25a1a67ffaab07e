import { useEffect, useRef } from 'preact/hooks';
import type uPlot from 'uplot';
import type { Quantity } from '../../core/units.js';
import { loopOf } from '../model/loop-choice.js';
import { overlay, type StepPair, stepCurve } from '../model/step-memory.js';
import { useConsole } from '../parts/console.js';
import { createChart } from '../plot/chart.js';

/** The newest step on the one of the gains before, from the old setpoint to the new one. */
export function StepChart({ pair }: { readonly pair: StepPair | undefined }) {
  const { colours } = useConsole();
  const host = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot>(undefined);
  const quantity = useRef<Quantity>('rad');
  if (pair !== undefined) quantity.current = loopOf(pair.current.step).quantity;
  useEffect(() => {
    if (host.current === null || pair === undefined) return;
    chart.current ??= createChart({
      host: host.current,
      colours,
      series: [
        { label: 'before', colour: 'previous', width: 1.5, dash: [3, 3] },
        { label: 'setpoint', colour: 'setpoint', width: 1, dash: [6, 4] },
        { label: 'measured', colour: 'measured', width: 2 },
      ],
      quantity: () => quantity.current,
      zeroT: () => 0,
      range: () => [0, chart.current?.data[0].at(-1) ?? 1],
    });
    const { current, previous } = pair;
    const [t, setpoint, measured, under] = overlay(
      stepCurve(current.step),
      previous && stepCurve(previous.step),
    );
    chart.current.setData([t, under, setpoint, measured]);
  }, [pair, colours]);
  return (
    <div
      class="chart"
      role="img"
      aria-label={`Captured step in ${quantity.current}, from the old setpoint to the new one`}
      ref={host}
    />
  );
}
