import type { GainSet } from '../core/units.js';
import { loopGains } from './gains.js';
import * as s from './schema.js';
import { measuredStep } from './step.js';

/** Saved gains in the history, with the newest step that was measured on them. */
export function historyLine(gains: s.Schema<GainSet>) {
  return s.answer(`Saved${gains.title}`, {
    revision: s.count(),
    savedAt: s.text('ISO 8601.'),
    gains,
    by: s.optional(
      s.text("Who saved: a token's name or an address. Absent for saves by version 0.3 and older."),
    ),
    profile: s.optional(s.text('The profile that was loaded.')),
    measured: s.optional(
      s.record(measuredStep, 'By loop: the newest step on this revision; absent if there is none.'),
    ),
  });
}
export type HistoryLine = s.TypeOf<ReturnType<typeof historyLine>>;

const side = s.growing({
  revision: s.nullable(s.count(), 'Null for a profile.'),
  profile: s.nullable(s.text(), 'Null for a revision.'),
});
const loopSide = s.growing({ gains: loopGains, measured: s.nullable(measuredStep) });

/** Two sets of gains side by side, by loop. */
export const comparison = s.answer('Comparison', {
  a: side,
  b: side,
  loops: s.record(s.growing({ differs: s.yesNo('Whether the gains differ.'), a: loopSide, b: loopSide })),
});
export type Comparison = s.TypeOf<typeof comparison>;
