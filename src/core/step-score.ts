import type { StepFigures } from './step-figures.js';

/** Percent of overshoot that counts for nothing. */
const OVERSHOOT_BORNE = 3;

/**
 * What a measured step is worth, in seconds: what is less is better. Settling and the area of the error, more where it
 * overshoots. `size` is the height of the step; `unsettledS` counts for one that does not settle.
 */
export function stepScore(
  { settlingS, overshootPercent, iae }: StepFigures,
  { size, unsettledS }: { readonly size: number; readonly unsettledS: number },
): number {
  const area = (iae ?? 0) / Math.max(1e-9, Math.abs(size));
  const beyond = Math.max(0, (overshootPercent ?? 0) - OVERSHOOT_BORNE);
  return ((settlingS ?? unsettledS) + area) * (1 + 0.3 * beyond);
}
