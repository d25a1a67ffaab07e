import { STYLES } from '../core/tuning-terms.js';
import { UNIT_LIST } from '../core/units.js';
import { loopGains } from './gains.js';
import {
  array,
  count,
  growing,
  named,
  nullable,
  number,
  oneOf,
  record,
  type TypeOf,
  text,
} from './schema.js';
import { figures } from './step.js';

const measured = named(
  'MeasuredGains',
  growing({ gains: loopGains, figures }),
  'Gains with the figures of their own trial.',
);

const prediction = named(
  'Prediction',
  growing({
    settlingS: number(),
    overshootPercent: number(),
    fitPercent: number('What the fitted plant leaves unexplained, of the step.'),
    curve: growing({
      periodS: number('Of one sample.'),
      setpoint: number('After the step.'),
      measured: array(number()),
    }),
  }),
);

const loopName = text('Name of the loop.');
const before = nullable(measured);
const proposed = nullable(measured);
const predicted = nullable(prediction);

const tunedLoop = named(
  'TunedLoop',
  growing({
    loop: loopName,
    state: oneOf(
      ['better', 'good', 'failed', 'skipped'],
      'As of the tuning; skipped: it was not tuned, for example without a target.',
    ),
    why: text(),
    before,
    proposed,
    predicted,
  }),
  'A loop of which the tuning has ended.',
);

const TUNE_STATES = ['running', 'better', 'good', 'failed', 'aborted'] as const;

/** A tuning of one or more loops, under way or ended: the data of event `tune`. */
export const tune = named(
  'Tune',
  growing({
    id: text('What renewals of the lease send.'),
    by: text("Whose it is: a token's name or an address."),
    unit: oneOf(UNIT_LIST.map(unit => unit.name)),
    loop: text('The loop under way, or the last one. Its are words, before, proposed and predicted.'),
    loops: array(loopName, 'In the order in which they are tuned.'),
    style: oneOf(STYLES),
    state: oneOf(
      TUNE_STATES,
      'better: a proposal was measured and beats the saved gains; good: these are as good already; failed: there is ' +
        'no result; aborted: ended early, and there may be a proposal.',
    ),
    words: array(text(), 'What was done, the newest last.'),
    why: nullable(text(), 'Of the end.'),
    before,
    proposed,
    predicted,
    results: array(tunedLoop, 'The loops that are over.'),
    proposal: nullable(
      growing({
        revision: count('The revision in force when the tuning began.'),
        gains: record(
          loopGains,
          'By the name of the loop: the saved gains with those that were measured to be better.',
        ),
      }),
      'What a save with `baseRevision` would keep; null if nothing is better.',
    ),
  }),
);

export type Tune = TypeOf<typeof tune>;
