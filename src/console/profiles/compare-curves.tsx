import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { RememberedStep } from '../../schemas/step.js';
import type { LoopChoice } from '../model/loop-choice.js';
import { inPercent } from '../model/step-curve.js';
import { useModel } from '../parts/parts.js';
import { StepChart } from '../step/step-chart.js';

interface CompareCurvesProps {
  readonly choice: LoopChoice;
  /** The numbers of the steps; undefined where none was measured. */
  readonly a: number | undefined;
  readonly b: number | undefined;
}

/** The newest steps of one loop with two sets of gains, over one another in percent of each step's height. */
export function CompareCurves({ choice: { unit, loop }, a, b }: CompareCurvesProps) {
  const { daemon } = useModel();
  const steps = useSignal<readonly (RememberedStep | undefined)[]>([]);
  useEffect(() => {
    let isOver = false;
    const stepOf = async (number: number | undefined) => {
      if (number === undefined) return undefined;
      const outcome = await daemon.capturedStep(unit, loop, number);
      return 'body' in outcome ? inPercent(outcome.body) : undefined;
    };
    void Promise.all([stepOf(a), stepOf(b)]).then(found => {
      if (!isOver) steps.value = found;
    });
    return () => {
      isOver = true;
    };
  }, [unit, loop, a, b]);
  const [one, other] = steps.value;
  return (
    <>
      {(one ?? other) !== undefined && (
        <StepChart main={other} under={one === undefined ? [] : [one]} quantity="%" predicted={undefined} />
      )}
      {(a === undefined || b === undefined) && (
        <p class="hint">
          {a === b ? 'No step' : `No step with the ${a === undefined ? 'first' : 'second'} set`} of this loop
          was captured yet.
        </p>
      )}
    </>
  );
}
