import { STYLES } from '../core/tuning-terms.js';
import { UNIT_LIST } from '../core/units.js';
import { loopGains } from './gains.js';
import * as s from './schema.js';
import { figures } from './step.js';

const measured = s.answer(
  'MeasuredGains',
  {
    gains: loopGains,
    figures,
    steps: s.array(
      figures,
      'All full steps of that trial. `figures` are those of the step that settled last.',
    ),
  },
  'Gains with the figures of their own trial.',
);

const prediction = s.answer('Prediction', {
  settlingS: s.number(),
  overshootPercent: s.number(),
  fitPercent: s.number('The part of the step that the fitted plant does not explain.'),
  curve: s.growing({
    periodS: s.number('Of one sample.'),
    setpoint: s.number('After the step.'),
    measured: s.array(s.number()),
  }),
});

const loopName = s.text('Name of the loop.');
const before = s.nullable(measured);
const proposed = s.nullable(measured);
const predicted = s.nullable(prediction);

const tunedLoop = s.answer(
  'TunedLoop',
  {
    loop: loopName,
    state: s.oneOf(
      ['better', 'good', 'failed', 'skipped'],
      'As of the tuning; skipped: it was not tuned, for example without a target.',
    ),
    why: s.text(),
    before,
    proposed,
    predicted,
  },
  'A loop whose tuning has ended.',
);

/** A tuning of one or more loops that is running or has ended: the data of event `tune`. */
export const tune = s.answer('Tune', {
  id: s.text('What renewals of the lease send.'),
  by: s.text("The owner: a token's name or an address."),
  unit: s.oneOf(UNIT_LIST.map(unit => unit.name)),
  loop: s.text(
    'The loop under way, or the last one. `words`, `before`, `proposed` and `predicted` are about it.',
  ),
  loops: s.array(loopName, 'In the order in which they are tuned.'),
  style: s.oneOf(STYLES),
  state: s.oneOf(
    ['running', 'better', 'good', 'failed', 'aborted'],
    'better: a proposal was measured and beats the saved gains; good: the saved gains are as good already; failed: there is ' +
      'no result; aborted: ended early, and there may be a proposal.',
  ),
  words: s.array(s.text(), 'What the tuner did, the newest last.'),
  why: s.nullable(s.text(), 'Why the tuning ended.'),
  before,
  proposed,
  predicted,
  results: s.array(tunedLoop, 'The loops whose tuning has ended.'),
  proposal: s.nullable(
    s.growing({
      revision: s.count('The revision in force when the tuning began.'),
      gains: s.record(
        loopGains,
        'By the name of the loop: the saved gains with those that were measured to be better.',
      ),
    }),
    'What a save with `baseRevision` would keep; null if nothing is better.',
  ),
});

export type Tune = s.TypeOf<typeof tune>;
