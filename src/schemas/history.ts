import type { GainSet } from '../core/units.js';
import { loopGains } from './gains.js';
import { count, growing, named, nullable, record, type Schema, type TypeOf, text, yesNo } from './schema.js';
import { measuredStep } from './step.js';

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

const side = growing({
  revision: nullable(count(), 'Null for a profile.'),
  profile: nullable(text(), 'Null for a revision.'),
});
const loopSide = growing({ gains: loopGains, measured: nullable(measuredStep) });

/** Two sets of gains beside each other, by loop. */
export const comparison = named(
  'Comparison',
  growing({
    a: side,
    b: side,
    loops: record(growing({ differs: yesNo('The gains do.'), a: loopSide, b: loopSide })),
  }),
);
export type Comparison = TypeOf<typeof comparison>;
