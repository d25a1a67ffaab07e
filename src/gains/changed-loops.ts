import { type GainSet, type Gains, sameGains } from '../core/units.js';

/**
 * The loops whose gains differ between the two sets, by name. A side is null if its set does not have the
 * loop.
 */
export function changedLoops(before: GainSet, after: GainSet) {
  const changed: Record<string, { readonly before: Gains | null; readonly after: Gains | null }> = {};
  for (const loop of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [one, other] = [before[loop], after[loop]];
    if (!sameGains(one, other)) changed[loop] = { before: one ?? null, after: other ?? null };
  }
  return changed;
}
