import type { Gains } from '../core/units.js';
import type { RememberedStep } from '../schemas/step.js';
import { stepScore } from '../tuning/step-figures.js';

const KEPT = 50;
/** How many steps of older revisions are kept besides. */
const KEPT_OF_OLDER = 50;
/** Steps are compared only if their heights differ by less than this part. A high step meets limits that a low one does not. */
const ALIKE = 0.1;

/**
 * Keeps the last steps, and the newest step of each older revision for the history.
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
 * The newest step on this revision. Compares the gains, too, because a new journal starts again at revision 1.
 */
export function newestOn(
  steps: readonly RememberedStep[],
  revision: number,
  gains: Gains | undefined,
): RememberedStep | undefined {
  return steps.findLast(step => step.revision === revision && sameGains(step.gains, gains));
}

/** The steps, with this revision on those that were measured while its gains were on trial. */
export function adopted(
  steps: readonly RememberedStep[],
  revision: number,
  gains: Gains | undefined,
): readonly RememberedStep[] {
  const isTried = (step: RememberedStep) => step.revision === null && sameGains(step.gains, gains);
  return steps.some(isTried) ? steps.map(step => (isTried(step) ? { ...step, revision } : step)) : steps;
}

/** The newest step with these gains, saved or on trial. */
export function newestWith(
  steps: readonly RememberedStep[],
  gains: Gains | undefined,
): RememberedStep | undefined {
  return steps.findLast(step => sameGains(step.gains, gains));
}

/** The best settled step of about the newest step's height; undefined if none settled. */
export function bestOf(steps: readonly RememberedStep[]): RememberedStep | undefined {
  const newest = steps.at(-1);
  if (newest === undefined) return undefined;
  const height = sizeOf(newest);
  const isAlike = (step: RememberedStep) => Math.abs(sizeOf(step) - height) <= ALIKE * height;
  const score = (step: RememberedStep) =>
    stepScore(step.figures, { size: sizeOf(step), unsettledS: Number.POSITIVE_INFINITY });
  const settled = steps.filter(step => step.figures.end === 'settled' && isAlike(step));
  return settled.sort((one, other) => score(one) - score(other))[0];
}

function sizeOf({ oldSetpoint, setpoint }: RememberedStep): number {
  return Math.abs(setpoint - oldSetpoint);
}

function sameGains(one: Gains, other: Gains | undefined): boolean {
  return one.kp === other?.kp && one.ki === other.ki && one.kd === other.kd;
}
