import type { StepFigures } from '../schemas/step.js';
import { type ExcitedRun, edgeOf, type HalfWave } from './excited-run.js';
import type { LoopShape } from './loop-shape.js';
import { stepFigures } from './step-figures.js';

/** The height of the last step. */
export function stepOf({ halves }: ExcitedRun): number {
  const last = halves.at(-1);
  const { from, to } = last === undefined ? { from: 0, to: 0 } : edgeOf(last);
  return to - from;
}

/** The figures of a half wave that rings, or else of the full step that settles last. */
export function figuresOf(shape: LoopShape, run: ExcitedRun): StepFigures {
  const periodS = run.decimation * shape.periodS;
  const all = run.halves.map(half => figuresOfHalf(shape, half, run.decimation));
  const wild = all.find(figures => figures.end === 'rings');
  if (wild !== undefined) return wild;
  const full = all.length > 1 ? all.slice(1) : all;
  const worst = full.sort((a, b) => (b.settlingS ?? 1e9) - (a.settlingS ?? 1e9))[0];
  return worst ?? stepFigures({ measured: [], periodS });
}

export function figuresOfHalf(shape: LoopShape, half: HalfWave, decimation: number): StepFigures {
  const { from, to } = edgeOf(half);
  const periodS = decimation * shape.periodS;
  return stepFigures({ measured: half.measured, periodS, oldSetpoint: from, setpoint: to });
}

/** The largest part of a step that the loop covered. */
export function movement({ halves }: ExcitedRun): number {
  const parts = halves.map(half => {
    const { from, to } = edgeOf(half);
    const [began = 0] = half.measured;
    return Math.max(0, ...half.measured.map(value => Math.abs(value - began))) / Math.abs(to - from);
  });
  return Math.max(0, ...parts);
}
