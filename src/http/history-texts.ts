import type { UnitName } from '../core/units.js';
import type { HistoryLine } from '../schemas/history.js';
import type { StepMemory } from '../steps/step-memory.js';

/** How many lines are serialised before other work gets its turn: about a millisecond on a small board. */
const LINES_AT_ONCE = 50;

type Figures = Pick<StepMemory, 'changes' | 'measuredOn'>;

/**
 * Histories as JSON, each revision with the figures that were measured on it. A long one takes many milliseconds: it is
 * made piece by piece, one history after the other, and kept until the next save or captured step, so that no other
 * answer waits for it, however many ask.
 */
export class HistoryTexts {
  readonly #kept = new Map<UnitName, { readonly key: string; readonly text: Promise<Buffer> }>();
  #last: Promise<unknown> = Promise.resolve();

  /** `history` has the newest first, so that its length and its first entry say which history it is. */
  of(unit: UnitName, history: readonly HistoryLine[], figures: Figures): Promise<Buffer> {
    const [newest] = history;
    const key = `${history.length} ${newest?.revision} ${newest?.savedAt} ${figures.changes}`;
    const kept = this.#kept.get(unit);
    if (kept?.key === key) return kept.text;
    const text = this.#last.then(() => textOf(unit, history, figures));
    this.#last = text;
    this.#kept.set(unit, { key, text });
    return text;
  }
}

async function textOf(unit: UnitName, history: readonly HistoryLine[], figures: Figures): Promise<Buffer> {
  const lines: string[] = [];
  for (const [index, saved] of history.entries()) {
    if (index % LINES_AT_ONCE === 0) await new Promise(resolve => setImmediate(resolve));
    const measured = figures.measuredOn(unit, saved);
    const hasAny = Object.keys(measured).length > 0;
    const line: HistoryLine = hasAny ? { ...saved, measured } : saved;
    lines.push(JSON.stringify(line));
  }
  return Buffer.from(`[${lines.join(',')}]`);
}
