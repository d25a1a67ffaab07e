import type { Gains } from '../core/units.js';

/** The record of a wave with one set of gains. Its halves follow one another without a gap. */
export interface ExcitedRun {
  readonly gains: Gains;
  /** Loop periods in each half of the wave. */
  readonly halfTicks: number;
  /** Loop periods between two samples. */
  readonly decimation: number;
  /** The loop's output before the first edge; it stood still. */
  readonly output: number;
  readonly halves: readonly HalfWave[];
}

/** Sample 0 is of the last loop period before the edge. */
export interface HalfWave {
  readonly setpoint: readonly number[];
  readonly measured: readonly number[];
}

/** Old and new setpoint of an edge. */
export function edgeOf({ setpoint }: HalfWave): { readonly from: number; readonly to: number } {
  const from = setpoint[0] ?? 0;
  return { from, to: setpoint.at(-1) ?? from };
}

/** The tallest step of the wave. */
export function sizeOf({ halves }: ExcitedRun): number {
  return halves.reduce((most, half) => {
    const { from, to } = edgeOf(half);
    return Math.max(most, Math.abs(to - from));
  }, 0);
}

/** The run with its values negated, for a loop whose controller turns its error round. */
export function turnedRound(run: ExcitedRun): ExcitedRun {
  const negated = (values: readonly number[]) => values.map(value => -value);
  const halves = run.halves.map(({ setpoint, measured }) => ({
    setpoint: negated(setpoint),
    measured: negated(measured),
  }));
  return { ...run, halves };
}
