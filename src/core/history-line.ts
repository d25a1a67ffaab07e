import { measuredStep } from './remembered-step.js';
import { count, growing, named, record, type Schema, type TypeOf, text } from './schema.js';
import type { GainSet } from './units.js';

/** Saved gains as the history shows them, with the newest step that was measured on them. */
export function historyLine(gains: Schema<GainSet>) {
  const measured = record(
    measuredStep,
    'By loop: the newest step on this revision; absent where there is none.',
  );
  const saved = growing({ revision: count(), savedAt: text('ISO 8601.'), gains }, { measured });
  return named(`Saved${gains.title}`, saved);
}
export type HistoryLine = TypeOf<ReturnType<typeof historyLine>>;
