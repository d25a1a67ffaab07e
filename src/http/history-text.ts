import type { UnitName } from '../core/units.js';
import type { HistoryLine } from '../schemas/history.js';
import type { StepMemory } from '../steps/step-memory.js';

/** How many lines become text before other requests are answered: about a millisecond on a small board. */
const LINES_AT_ONCE = 50;

/** A history as JSON, each revision with the figures that were measured on it. */
export async function historyText(
  unit: UnitName,
  history: readonly HistoryLine[],
  figures: Pick<StepMemory, 'measuredOn'>,
): Promise<Buffer> {
  const lines: string[] = [];
  for (const [index, saved] of history.entries()) {
    if (index % LINES_AT_ONCE === 0) await new Promise(resolve => setImmediate(resolve));
    const measured = figures.measuredOn(unit, saved);
    const line: HistoryLine = Object.keys(measured).length > 0 ? { ...saved, measured } : saved;
    lines.push(JSON.stringify(line));
  }
  return Buffer.from(`[${lines.join(',')}]`);
}
