import type { UnitName } from '../core/units.js';
import type { SavedGains } from '../gains/gains-store.js';
import { JsonText } from './route.js';

/** Lines that are serialised before others get their turn: about a millisecond on a small board. */
const LINES_AT_ONCE = 50;

type Text = JsonText<readonly SavedGains[]>;

/**
 * Histories as JSON. A long one takes many milliseconds: it is made piece by piece, one history after the other, and
 * kept until the next save, so that no other answer waits for it, however many ask.
 */
export class HistoryTexts {
  readonly #kept = new Map<UnitName, { readonly key: string; readonly text: Promise<Text> }>();
  #last: Promise<unknown> = Promise.resolve();

  /** `history` begins with the newest, as no other history of this length does. */
  of(unit: UnitName, history: readonly SavedGains[]): Promise<Text> {
    const [newest] = history;
    const key = `${history.length} ${newest?.revision} ${newest?.savedAt}`;
    const kept = this.#kept.get(unit);
    if (kept?.key === key) return kept.text;
    const text = this.#last.then(() => textOf(history));
    this.#last = text;
    this.#kept.set(unit, { key, text });
    return text;
  }
}

async function textOf(history: readonly SavedGains[]): Promise<Text> {
  const lines: string[] = [];
  for (const [index, saved] of history.entries()) {
    if (index % LINES_AT_ONCE === 0) await new Promise(resolve => setImmediate(resolve));
    lines.push(JSON.stringify(saved));
  }
  return new JsonText(Buffer.from(`[${lines.join(',')}]`));
}
