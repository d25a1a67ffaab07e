import { STYLES } from '../core/tuning-terms.js';
import { UNIT_LIST } from '../core/units.js';
import { loopGains } from './gains.js';
import { array, growing, named, nullable, number, oneOf, type TypeOf, text } from './schema.js';
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

const TUNE_STATES = ['running', 'better', 'good', 'failed', 'aborted'] as const;

/** A tuning of one loop, under way or ended: the data of event `tune`. */
export const tune = named(
  'Tune',
  growing({
    id: text('What renewals of the lease send.'),
    by: text("Whose it is: a token's name or an address."),
    unit: oneOf(UNIT_LIST.map(unit => unit.name)),
    loop: text('Name of the loop.'),
    style: oneOf(STYLES),
    state: oneOf(
      TUNE_STATES,
      'better: the proposal was measured and beats the saved gains; good: these are as good already.',
    ),
    words: array(text(), 'What was done, the newest last.'),
    why: nullable(text(), 'Of the end.'),
    before: nullable(measured),
    proposed: nullable(measured),
    predicted: nullable(prediction),
  }),
);

export type Tune = TypeOf<typeof tune>;
