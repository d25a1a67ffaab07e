import type { Gains } from '../core/units.js';
import type { RememberedStep } from '../schemas/step.js';
import { stepScore } from '../tuning/step-score.js';

const KEPT = 50;
/** How many steps are kept of revisions on which none of the last steps was measured. */
const KEPT_OF_OLDER = 50;
/** Steps whose heights differ by more than this part are not compared: a tall one meets limits that a small one does not. */
const ALIKE = 0.1;

/**
 * Keeps the last steps, and of each older revision the newest one, so that a history goes on showing its figures.
 */
export function thinned(steps: readonly RememberedStep[]): RememberedStep[] {
  const last = steps.slice(-KEPT);
  const byRevision = new Map<number, RememberedStep>();
  for (const step of steps.slice(0, -KEPT)) {
    if (step.revision !== null) byRevision.set(step.revision, step);
  }
  for (const { revision } of last) byRevision.delete(revision ?? -1);
  return [...[...byRevision.values()].slice(-KEPT_OF_OLDER), ...last];
}

/**
 * The newest step that was measured on this revision. Its gains are compared too, since a journal that began anew gives
 * the same number to others.
 */
export function newestOn(
  steps: readonly RememberedStep[],
  revision: number,
  gains: Gains | undefined,
): RememberedStep | undefined {
  return steps.findLast(step => step.revision === revision && sameGains(step.gains, gains));
}

/** The newest step with these gains, saved or tried. */
export function newestWith(
  steps: readonly RememberedStep[],
  gains: Gains | undefined,
): RememberedStep | undefined {
  return steps.findLast(step => sameGains(step.gains, gains));
}

/** The best of the settled steps that are about as tall as the newest one; undefined where none settled. */
export function bestOf(steps: readonly RememberedStep[]): RememberedStep | undefined {
  const newest = steps.at(-1);
  if (newest === undefined) return undefined;
  const height = sizeOf(newest);
  const score = (step: RememberedStep) =>
    stepScore(step.figures, { size: sizeOf(step), unsettledS: Number.POSITIVE_INFINITY });
  return steps
    .filter(
      step => step.figures.end === 'settled' && Math.abs(sizeOf(step) - height) <= ALIKE * Math.abs(height),
    )
    .reduce<RememberedStep | undefined>(
      (best, step) => (best === undefined || score(step) < score(best) ? step : best),
      undefined,
    );
}

function sizeOf({ oldSetpoint, setpoint }: RememberedStep): number {
  return Math.abs(setpoint - oldSetpoint);
}

function sameGains(one: Gains, other: Gains | undefined): boolean {
  return one.kp === other?.kp && one.ki === other.ki && one.kd === other.kd;
}
