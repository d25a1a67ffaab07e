import { loopGains } from './gains-schema.js';
import { array, count, growing, named, nullable, number, type TypeOf, text, yesNo } from './schema.js';
import { figures } from './step-figures.js';

const members = {
  number: count(
    'Of this step among those of its loop. After a kill, a damaged file or a start with a disk that is too slow, the same number may be ' +
      'that of another step: compare `at` as well.',
  ),
  at: text('When it was read out: wall time, ISO 8601.'),
  loop: text('Name of the loop.'),
  gains: loopGains,
  trial: yesNo('The gains were only tried when it was measured.'),
  revision: nullable(count(), 'The saved gains that it was measured on; null for a trial.'),
  oldSetpoint: number("The controller's own, before the edge."),
  setpoint: number("The controller's own, after the edge."),
  periodS: number('Of one sample.'),
  figures,
} as const;

/** A captured step without its samples. */
export const stepSummary = named('StepSummary', growing(members));
export type StepSummary = TypeOf<typeof stepSummary>;

/** A captured step as it is remembered. */
export const rememberedStep = named(
  'RememberedStep',
  growing({
    ...members,
    samples: growing({ setpoint: array(number()), measured: array(number()) }),
  }),
);
export type RememberedStep = TypeOf<typeof rememberedStep>;

/** The newest step of a loop on certain gains, as histories and comparisons show it. */
export const measuredStep = named(
  'MeasuredStep',
  growing({ number: members.number, at: members.at, figures }),
  'The newest step of a loop that was measured on these gains; its number finds the samples.',
);
export type MeasuredStep = TypeOf<typeof measuredStep>;
