import type { StepFigures } from '../schemas/step.js';

/** Overshoot up to this many percent costs nothing. */
const OVERSHOOT_BORNE = 3;

/**
 * The cost of a measured step in seconds: its settling time plus the area of its error, increased by overshoot. Less is
 * better. `size` is the height of the step. `unsettledS` is the settling time of a step that does not settle.
 */
export function stepScore(
  { settlingS, overshootPercent, iae }: StepFigures,
  { size, unsettledS }: { readonly size: number; readonly unsettledS: number },
): number {
  const area = (iae ?? 0) / Math.max(1e-9, Math.abs(size));
  const beyond = Math.max(0, (overshootPercent ?? 0) - OVERSHOOT_BORNE);
  return ((settlingS ?? unsettledS) + area) * (1 + 0.3 * beyond);
}
