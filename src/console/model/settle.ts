import { difference, fieldsOf, storedValue, withChanges } from './edits.js';
import type { UnitGains } from './unit-gains.js';

/** Decides about a loop that others changed: the edits of this page stay as they were made, field by field, or are dropped. */
export function settle(gains: UnitGains, loop: string, whose: 'mine' | 'theirs'): void {
  const { unit } = gains;
  const stored = gains.stored.value;
  const { texts, base } = gains.kept.value;
  if (stored === undefined || base === undefined) return;
  const fields = fieldsOf(unit).filter(field => field.loop === loop);
  const pointers = new Set(fields.map(field => field.pointer));
  const others = Object.fromEntries(Object.entries(texts).filter(([pointer]) => !pointers.has(pointer)));
  const mine = fields.map(field => [
    field.pointer,
    texts[field.pointer] ?? String(storedValue(base.gains, field)),
  ]);
  const settled = difference(unit, base.gains, stored.gains).filter(({ field }) => field.loop === loop);
  gains.kept.value = {
    texts: whose === 'mine' ? { ...others, ...Object.fromEntries(mine) } : others,
    base: { ...base, gains: withChanges(base.gains, settled) },
  };
  gains.take(stored);
}
