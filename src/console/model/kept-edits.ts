import { effect } from '@preact/signals';
import type { GainSet, UnitName } from '../../core/units.js';
import type { KeptEdits, UnitGains } from './unit-gains.js';

const KEY = 'trunnion.edits';

/** Unsaved edits outlive a reload, and all windows of one browser share them. */
export function keepEdits(gains: Readonly<Record<UnitName, UnitGains>>): void {
  const all = Object.values(gains);
  const restore = () => {
    try {
      const kept: Partial<Record<UnitName, KeptEdits>> = JSON.parse(localStorage.getItem(KEY) ?? '{}');
      for (const one of all) one.kept.value = readable(kept[one.unit.name]);
    } catch {
      // What cannot be read was not ours.
    }
  };
  restore();
  window.addEventListener('storage', event => {
    if (event.key === KEY) restore();
  });
  effect(() => {
    const kept = JSON.stringify(Object.fromEntries(all.map(one => [one.unit.name, one.kept.value])));
    try {
      if (localStorage.getItem(KEY) !== kept) localStorage.setItem(KEY, kept);
    } catch {
      // A browser that keeps nothing still edits.
    }
  });
}

function readable(kept: unknown): KeptEdits {
  const { texts, base } = Object(kept);
  const pairs = Object.entries(Object(texts)).map(([pointer, text]) => [pointer, String(text)]);
  const gains: GainSet | undefined = Object(base).gains;
  return {
    texts: Object.fromEntries(pairs),
    base: gains && { gains, revision: Object(base).revision },
  };
}
