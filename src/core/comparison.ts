import { loopGains } from './gains-schema.js';
import { measuredStep } from './remembered-step.js';
import { count, growing, named, nullable, record, type TypeOf, text, yesNo } from './schema.js';

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
