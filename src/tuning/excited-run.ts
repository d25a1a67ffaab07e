import type { Gains } from '../core/units.js';
import type { StepFigures } from '../schemas/step.js';
import type { LoopShape } from './loop-shape.js';
import { stepFigures } from './step-figures.js';

/** The record of an excitation with one set of gains. Its half waves follow without a gap. */
export interface ExcitedRun {
  readonly gains: Gains;
  /** Loop periods in a half wave. */
  readonly halfTicks: number;
  /** Loop periods between two samples. */
  readonly decimation: number;
  /** The output of the resting loop before the first edge. */
  readonly output: number;
  readonly halves: readonly HalfWave[];
}

/** Sample 0 belongs to the last loop period before the edge. */
export interface HalfWave {
  readonly setpoint: readonly number[];
  readonly measured: readonly number[];
}

/** Old and new setpoint of an edge. */
export function edgeOf({ setpoint }: HalfWave): { readonly from: number; readonly to: number } {
  const from = setpoint[0] ?? 0;
  return { from, to: setpoint.at(-1) ?? from };
}

/** The tallest step of the excitation. */
export function sizeOf({ halves }: ExcitedRun): number {
  const edges = halves.map(edgeOf);
  return Math.max(0, ...edges.map(({ from, to }) => Math.abs(to - from)));
}

/** The negated run, for a loop whose controller inverts the error. */
export function turnedRound(run: ExcitedRun): ExcitedRun {
  const negated = (values: readonly number[]) => values.map(value => -value);
  const halves = run.halves.map(({ setpoint, measured }) => ({
    setpoint: negated(setpoint),
    measured: negated(measured),
  }));
  return { ...run, halves };
}

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
