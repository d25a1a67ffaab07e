import type { Gains } from '../../core/units.js';
import type { Step } from '../daemon/robot-state.js';

export interface RememberedStep {
  readonly step: Step;
  /** In force while it was recorded. */
  readonly gains: Gains;
  /** Of those gains. */
  readonly revision: number;
}

export interface StepPair {
  readonly current: RememberedStep;
  /** The last step under the gains before. */
  readonly previous?: RememberedStep;
}

const sameGains = (one: Gains, other: Gains) =>
  one.kp === other.kp && one.ki === other.ki && one.kd === other.kd;

export function rememberStep(pair: StepPair | undefined, current: RememberedStep): StepPair {
  const { gains } = current;
  if (pair === undefined || sameGains(pair.current.gains, gains)) return { ...pair, current };
  return { current, previous: pair.current };
}

/** Of how long ago, in seconds, a step that is told of now began: its record, and a second to read it out. */
export function stepAgeS(step: Step): number {
  return step.samples.measured.length * step.periodS + 1;
}

/** What a person has to know before the figures of a step are believed. */
export function caveatOf({ figures, samples, periodS }: Step): string | undefined {
  const recordedS = Number((samples.measured.length * periodS).toPrecision(2));
  if (figures.end === 'moving')
    return `Still moving after ${recordedS} s: the period is too short for this loop.`;
  if (figures.end === 'off') return 'It stands still, but not where it was asked to.';
  return undefined;
}

export interface StepCurve {
  readonly t: number[];
  readonly setpoint: number[];
  readonly measured: number[];
}

/** From the old setpoint upwards to the new one, so that steps up and down lie on one another. */
export function stepCurve({ samples, periodS }: Step): StepCurve {
  const from = samples.setpoint[0] ?? 0;
  const falls = (samples.setpoint.at(-1) ?? 0) < from;
  const upwards = (value: number) => (falls ? from - value : value - from);
  return {
    t: samples.measured.map((_, index) => index * periodS),
    setpoint: samples.setpoint.map(upwards),
    measured: samples.measured.map(upwards),
  };
}

/** Two curves on one time axis: `[t, setpoint, measured, previous]`, null where a curve has no sample. */
export function overlay(current: StepCurve, previous: StepCurve | undefined) {
  const times = [...new Set([...current.t, ...(previous?.t ?? [])])].sort((a, b) => a - b);
  const on = (curve: { t: readonly number[] } | undefined, values: readonly number[]) => {
    const byTime = new Map(curve?.t.map((t, index) => [t, values[index] ?? null]));
    return times.map(t => byTime.get(t));
  };
  return [
    times,
    on(current, current.setpoint),
    on(current, current.measured),
    on(previous, previous?.measured ?? []),
  ] as const;
}
