import type { Gains } from '../core/units.js';

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
