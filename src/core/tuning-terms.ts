import type { Loop, Unit } from './units.js';

export const STYLES = ['gentle', 'normal', 'brisk'] as const;
export type Style = (typeof STYLES)[number];

/** The amplitude of a tuning's excitation, as a fraction of the loop's largest amplitude. */
export const TUNING_PART = 0.3;
export const LONGEST_TUNING_S = 45;
/** The number of excitation periods that a tuning of one loop usually takes on the simulated robot. */
export const USUAL_TUNING_PERIODS = 7;

/** The loop and those that it was tuned upon. */
export function withInner(unit: Unit, name: string | undefined): string[] {
  return unit.loops
    .filter(loop => loop.name === name)
    .flatMap(({ inner }) => [name ?? '', ...withInner(unit, inner)]);
}

/** The loops of a unit in the order in which they are tuned: from the inside out. */
export function insideOut(unit: Unit): Loop[] {
  return [...unit.loops].sort((a, b) => withInner(unit, a.name).length - withInner(unit, b.name).length);
}
