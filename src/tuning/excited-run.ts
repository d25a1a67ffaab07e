import type { Gains } from '../core/units.js';
import type { LoopShape } from './plant.js';
import { NO_FIGURES, stepFigures } from './step-figures.js';

/** The record of an excitation with one set of gains. Its half periods follow without a gap. */
export interface ExcitedRun {
  readonly gains: Gains;
  /** Loop periods in a half period. */
  readonly halfTicks: number;
  /** Loop periods between two samples. */
  readonly decimation: number;
  /** The output of the resting loop before the first edge. */
  readonly output: number;
  readonly halves: readonly HalfPeriod[];
}

/** An edge of the setpoint and what follows. Sample 0 belongs to the last loop period before the edge. */
export interface HalfPeriod {
  readonly from: number;
  readonly to: number;
  readonly measured: readonly number[];
}

/** Makes a half period of a capture. */
export function halfPeriodOf(capture: {
  readonly setpoint: readonly number[];
  readonly measured: readonly number[];
}): HalfPeriod {
  const [from = 0] = capture.setpoint;
  return { from, to: capture.setpoint.at(-1) ?? from, measured: capture.measured };
}

/** The tallest step of the excitation. */
export function sizeOf({ halves }: ExcitedRun): number {
  return Math.max(0, ...halves.map(({ from, to }) => Math.abs(to - from)));
}

/** The negated run, for a loop whose controller inverts the error. */
export function turnedRound(run: ExcitedRun): ExcitedRun {
  const halves = run.halves.map(({ from, to, measured }) => ({
    from: -from,
    to: -to,
    measured: measured.map(value => -value),
  }));
  return { ...run, halves };
}

/**
 * `figures`: those of a half period that rings. If none rings, those of the full step that settles last. `steps`: those of
 * all full steps.
 */
export function figuresOf(shape: LoopShape, { halves, decimation }: ExcitedRun) {
  const all = halves.map(half => figuresOfHalf(shape, half, decimation));
  const wild = all.find(figures => figures.end === 'rings');
  const steps = all.length > 1 ? all.slice(1) : all;
  const [slowest] = steps.toSorted((a, b) => (b.settlingS ?? 1e9) - (a.settlingS ?? 1e9));
  return { figures: wild ?? slowest ?? NO_FIGURES, steps };
}

export function figuresOfHalf(shape: LoopShape, { from, to, measured }: HalfPeriod, decimation: number) {
  return stepFigures({ measured, periodS: decimation * shape.periodS, oldSetpoint: from, setpoint: to });
}

/** The largest fraction of a step that the loop covered. */
export function movement({ halves }: ExcitedRun): number {
  const parts = halves.map(({ from, to, measured }) => {
    const [began = 0] = measured;
    return Math.max(0, ...measured.map(value => Math.abs(value - began))) / Math.abs(to - from);
  });
  return Math.max(0, ...parts);
}
