import { array, count, growing, named, number, oneOf, type TypeOf, text } from './schema.js';
import { figures } from './step-figures.js';
import { UNIT_LIST } from './units.js';

/** The data of event `step`: a captured step with what a tuner reads from it. */
export const step = named(
  'Step',
  growing({
    unit: oneOf(UNIT_LIST.map(unit => unit.name)),
    loop: text('Name of the loop.'),
    number: count('Counts captures since the controller started; wraps.'),
    rateHz: number("The controller's loop rate."),
    decimation: count('Loop periods between two samples.'),
    periodS: number('Of one sample.'),
    samples: growing({ setpoint: array(number()), measured: array(number()) }),
    figures,
  }),
);

export type Step = TypeOf<typeof step>;
