import type { RememberedStep, StepSummary } from '../../schemas/step.js';
import type { Tune } from '../../schemas/tune.js';
import { fixed } from './numbers.js';

type Recorded = Pick<RememberedStep, 'samples' | 'periodS'>;
type Wild = Pick<StepSummary, 'figures' | 'oldSetpoint' | 'setpoint'>;
type Ended = Recorded & { readonly figures: Pick<RememberedStep['figures'], 'end'> };

/** A warning about the figures of a step, if there is one. */
export function caveatOf({ figures, samples, periodS }: Ended): string | undefined {
  const recordedS = Number((samples.measured.length * periodS).toPrecision(2));
  if (figures.end === 'moving')
    return `Still moving after ${recordedS} s: the period is too short for this loop.`;
  if (figures.end === 'off') return 'The loop stands still, but not at its setpoint.';
  return undefined;
}

/** Beyond this overshoot, in percent, a step that ends moving is wild. */
const WILD_PERCENT = 100;

/** What a loop does that does not come to rest, if it does so. A long oscillation may not fit into the record. */
export function wildnessOf({ figures, oldSetpoint, setpoint }: Wild, unit: string): string | undefined {
  const { end, oscillation, peak } = figures;
  const rounded = (value: number) => Number(value.toPrecision(2));
  if (oscillation !== null)
    return `oscillates ±${rounded(oscillation.swing)} ${unit}, ${rounded(oscillation.frequencyHz)} Hz`;
  const beyond = peak === null ? 0 : 100 * ((peak - oldSetpoint) / (setpoint - oldSetpoint) - 1);
  if (end !== 'moving' || beyond <= WILD_PERCENT) return undefined;
  return `wild: ${fixed(beyond, 0)} % beyond the setpoint, and still moving`;
}

/** Seconds since the edge, and the values at these times. */
export type Curve = [t: number[], values: number[]];

/** The times of samples, in seconds since the first one. */
export function timesOf(samples: readonly number[], periodS: number): number[] {
  return samples.map((_, index) => index * periodS);
}

/** Where the setpoint was before the step, and by how much it changed. */
function edgeOf({ samples: { setpoint } }: Pick<RememberedStep, 'samples'>) {
  const [from = 0] = setpoint;
  return { from, change: (setpoint.at(-1) ?? 0) - from };
}

/** Makes every step start at 0 and go upwards, so that all steps can be compared. */
export function stepCurves(step: Recorded): Record<'setpoint' | 'measured', Curve> {
  const { from, change } = edgeOf(step);
  const { setpoint, measured } = step.samples;
  const upwards = (value: number) => (change < 0 ? from - value : value - from);
  const t = timesOf(measured, step.periodS);
  return { setpoint: [t, setpoint.map(upwards)], measured: [t, measured.map(upwards)] };
}

/** The height of the step, without a sign. */
export const heightOf = (step: Pick<RememberedStep, 'samples'>) => Math.abs(edgeOf(step).change);

/** True if the steps have different heights, and can only be compared in percent. */
export function differInHeight(steps: readonly Pick<RememberedStep, 'samples'>[]): boolean {
  const heights = steps.map(heightOf);
  return Math.min(...heights) < 0.99 * Math.max(...heights);
}

/** The same step in percent of its height. */
export function inPercent(step: RememberedStep): RememberedStep {
  const { from, change } = edgeOf(step);
  if (change === 0) return step;
  const percent = (value: number) => (100 * (value - from)) / change;
  const { setpoint, measured } = step.samples;
  const { steadyError } = step.figures;
  return {
    ...step,
    figures: { ...step.figures, steadyError: steadyError && (100 * steadyError) / Math.abs(change) },
    samples: { setpoint: setpoint.map(percent), measured: measured.map(percent) },
  };
}

/** The predicted step goes from minus its setpoint to plus its setpoint, so the setpoint is added. */
export function predictedCurve({ curve }: NonNullable<Tune['predicted']>): Curve {
  return [timesOf(curve.measured, curve.periodS), curve.measured.map(value => value + curve.setpoint)];
}

/** Settling times that differ by less than this count as the same, in seconds. */
const SAME_S = 0.02;
const FACTOR = 1.4;
/** Overshoots that differ by less than this count as the same, in percent of the step. */
const OVERSHOOT_PERCENT = 4;
const FIT_PERCENT = 3;

/** Describes how the measurement differs from the prediction; undefined if they agree. */
export function mismatchOf(result: Pick<Tune, 'proposed' | 'predicted'>): string | undefined {
  const { proposed, predicted } = result;
  if (proposed === null || predicted === null) return undefined;
  const { settlingS, overshootPercent } = proposed.figures;
  const ms = (seconds: number) => `${fixed(seconds * 1000, 0)} ms`;
  const percent = (value: number) => `${fixed(value, 0)} %`;
  const overshoots = overshootPercent ?? predicted.overshootPercent;
  const differences = [
    settlingS !== null &&
      !isSame(settlingS, predicted.settlingS) &&
      `it settles in ${ms(settlingS)} instead of ${ms(predicted.settlingS)}`,
    Math.abs(overshoots - predicted.overshootPercent) > OVERSHOOT_PERCENT &&
      `it overshoots by ${percent(overshoots)} instead of ${percent(predicted.overshootPercent)}`,
    predicted.fitPercent > FIT_PERCENT &&
      `the plant that was found leaves ${percent(predicted.fitPercent)} unexplained`,
  ].filter(Boolean);
  if (differences.length === 0) return undefined;
  return `Not as predicted: ${differences.join('; ')}. Look for play, a slipping wheel or a loose cable, and trust what was measured.`;
}

function isSame(one: number, other: number): boolean {
  return Math.abs(one - other) <= SAME_S || Math.max(one / other, other / one) <= FACTOR;
}
