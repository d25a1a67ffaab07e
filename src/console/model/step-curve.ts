import type { RememberedStep } from '../../schemas/step.js';
import type { Tune } from '../../schemas/tune.js';

/** What a person has to know before the figures of a step are believed. */
export function caveatOf({
  figures,
  samples,
  periodS,
}: Pick<RememberedStep, 'figures' | 'samples' | 'periodS'>): string | undefined {
  const recordedS = Number((samples.measured.length * periodS).toPrecision(2));
  if (figures.end === 'moving')
    return `Still moving after ${recordedS} s: the period is too short for this loop.`;
  if (figures.end === 'off') return 'It stands still, but not where it was asked to.';
  return undefined;
}

/** Values over seconds since the edge. */
export interface Curve {
  readonly t: readonly number[];
  readonly values: readonly number[];
}

export interface StepCurves {
  readonly setpoint: Curve;
  readonly measured: Curve;
}

/** Turns every step so that it goes from 0 upwards: steps up and down lie on one another. */
export function stepCurves({ samples, periodS }: Pick<RememberedStep, 'samples' | 'periodS'>): StepCurves {
  const from = samples.setpoint[0] ?? 0;
  const falls = (samples.setpoint.at(-1) ?? 0) < from;
  const upwards = (value: number) => (falls ? from - value : value - from);
  const t = samples.measured.map((_, index) => index * periodS);
  return {
    setpoint: { t, values: samples.setpoint.map(upwards) },
    measured: { t, values: samples.measured.map(upwards) },
  };
}

/** The same step from 0 to 100, so that steps of other heights lie on it. */
export function inPercent(step: RememberedStep): RememberedStep {
  const from = step.samples.setpoint[0] ?? 0;
  const height = (step.samples.setpoint.at(-1) ?? 0) - from;
  if (height === 0) return step;
  const percent = (value: number) => (100 * (value - from)) / height;
  const { setpoint, measured } = step.samples;
  return { ...step, samples: { setpoint: setpoint.map(percent), measured: measured.map(percent) } };
}

/** A tuner foretells a step from as far below 0 as its setpoint is above. */
export function predictedCurve({ curve }: NonNullable<Tune['predicted']>): Curve {
  return {
    t: curve.measured.map((_, index) => index * curve.periodS),
    values: curve.measured.map(value => value + curve.setpoint),
  };
}

/** Curves on one time axis: `[t, ...values]`, with holes where one has no sample. */
export function onOneAxis(curves: readonly (Curve | undefined)[]): [number[], ...(number | undefined)[][]] {
  const times = [...new Set(curves.flatMap(curve => curve?.t ?? []))].sort((a, b) => a - b);
  const values = curves.map(curve => {
    const byTime = new Map(curve?.t.map((t, index) => [t, curve.values[index]]));
    return times.map(t => byTime.get(t));
  });
  return [times, ...values];
}
