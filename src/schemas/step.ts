import { UNIT_LIST } from '../core/units.js';
import { loopGains } from './gains.js';
import { array, count, growing, named, nullable, number, oneOf, type TypeOf, text, yesNo } from './schema.js';

const STEP_ENDS = ['settled', 'off', 'moving', 'rings'] as const;

const figure = (description: string) => nullable(number(), description);

export const figures = named(
  'StepFigures',
  growing({
    end: nullable(
      oneOf(STEP_ENDS),
      'The loop at the end of the record. `settled`: at the setpoint. `off`: at rest, but not at the setpoint. `moving`: the record is too short. `rings`: the loop swings.',
    ),
    overshootPercent: figure('Beyond the new setpoint, in percent of the step.'),
    riseS: figure('From 10 % to 90 % of the step.'),
    settlingS: figure('Until it stays within bandPercent of the step around the new setpoint.'),
    bandPercent: figure('At least 2; more if the noise alone would leave a band of 2 %.'),
    peak: figure('The farthest point in the direction of the step.'),
    peakTimeS: figure('Until the peak.'),
    steadyError: figure('Setpoint minus final value.'),
    finalValue: figure('Mean of the last 2 % of the samples.'),
    iae: figure("Integral of the error's absolute value over the record."),
    oscillation: nullable(
      growing({ swing: number('The amplitude.'), frequencyHz: number() }),
      'Null unless the loop rings.',
    ),
    atLimitShare: figure(
      "The part of the time, from 0 to 1, in which polls saw the loop's output at a limit; null if fewer than 20 polls saw the step.",
    ),
  }),
  'What a tuner reads from a step response; null if the samples do not show it.',
);

export type StepFigures = TypeOf<typeof figures>;

const members = {
  number: count(
    'The number of this step in its loop. After a kill, a damaged file or a start with a slow disk, another step may get the ' +
      'same number: compare `at` as well.',
  ),
  at: text('Wall time at which the step was read, ISO 8601.'),
  loop: text('Name of the loop.'),
  gains: loopGains,
  trial: yesNo('The gains were a trial.'),
  revision: nullable(count(), 'The revision of the gains; null for a trial.'),
  oldSetpoint: number('Before the edge.'),
  setpoint: number('After the edge.'),
  periodS: number('Of one sample.'),
  figures,
} as const;

/** A captured step without its samples. */
export const stepSummary = named('StepSummary', growing(members));
export type StepSummary = TypeOf<typeof stepSummary>;

/** A captured step with its samples. */
export const rememberedStep = named(
  'RememberedStep',
  growing({
    ...members,
    samples: growing({ setpoint: array(number()), measured: array(number()) }),
  }),
);
export type RememberedStep = TypeOf<typeof rememberedStep>;

export const measuredStep = named(
  'MeasuredStep',
  growing({ number: members.number, at: members.at, figures }),
  'The newest step that was measured with these gains. `number` finds its samples.',
);
export type MeasuredStep = TypeOf<typeof measuredStep>;

/** The data of event `step`. */
export const step = named(
  'Step',
  growing({
    unit: oneOf(UNIT_LIST.map(unit => unit.name)),
    loop: text('Name of the loop.'),
    number: count('Counts captures since the controller started, and wraps around.'),
    rateHz: number("The controller's loop rate."),
    decimation: count('Loop periods between two samples.'),
    periodS: number('Of one sample.'),
    samples: growing({ setpoint: array(number()), measured: array(number()) }),
    figures,
  }),
);

export type Step = TypeOf<typeof step>;
