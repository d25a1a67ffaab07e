import type { StepFigures } from '../schemas/step.js';
import { type ExcitedRun, edgeOf, type HalfWave } from './excited-run.js';
import type { LoopShape } from './loop-shape.js';
import { stepFigures } from './step-figures.js';

/** The height of the last step. */
export function stepOf({ halves }: ExcitedRun): number {
  const last = halves.at(-1);
  if (last === undefined) return 0;
  const { from, to } = edgeOf(last);
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
  return halves.reduce((most, half) => {
    const { from, to } = edgeOf(half);
    const began = half.measured[0] ?? 0;
    const way = half.measured.reduce((far, value) => Math.max(far, Math.abs(value - began)), 0);
    return Math.max(most, way / Math.abs(to - from));
  }, 0);
}
