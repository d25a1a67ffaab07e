import { UNIT_LIST } from '../core/units.js';
import { loopGains } from './gains.js';
import * as s from './schema.js';

const figure = (description: string) => s.nullable(s.number(), description);

export const figures = s.answer(
  'StepFigures',
  {
    end: s.nullable(
      s.oneOf(['settled', 'off', 'moving', 'rings']),
      'The loop at the end of the record. `settled`: at the setpoint. `off`: at rest, but not at the setpoint. `moving`: the record is too short. `rings`: the loop swings.',
    ),
    overshootPercent: figure('Beyond the new setpoint, in percent of the step.'),
    riseS: figure('From 10 % to 90 % of the step.'),
    settlingS: figure('Until the value stays within bandPercent of the step around the new setpoint.'),
    bandPercent: figure('At least 2; more if the noise alone would leave a band of 2 %.'),
    peak: figure('The farthest point in the direction of the step.'),
    peakTimeS: figure('Until the peak.'),
    steadyError: figure('Setpoint minus final value.'),
    finalValue: figure('Mean of the last 2 % of the samples.'),
    iae: figure("Integral of the error's absolute value over the record."),
    oscillation: s.nullable(
      s.growing({ swing: s.number('The amplitude.'), frequencyHz: s.number() }),
      'Null unless the loop rings.',
    ),
    atLimitShare: figure(
      "The part of the time, from 0 to 1, in which polls saw the loop's output at a limit; null if fewer than 20 polls saw the step.",
    ),
  },
  'What a tuner reads from a step response; null if the samples do not show it.',
);

export type StepFigures = s.TypeOf<typeof figures>;

const members = {
  number: s.count(
    'The number of this step in its loop. After a kill, a damaged file or a start with a slow disk, another step may get the ' +
      'same number: compare `at` as well.',
  ),
  at: s.text('Wall time at which the step was read, ISO 8601.'),
  loop: s.text('Name of the loop.'),
  gains: loopGains,
  trial: s.yesNo('The gains were a trial.'),
  revision: s.nullable(
    s.count(),
    'The revision of the gains, also if a trial ran the saved gains or its gains were saved later; null if they were not saved.',
  ),
  oldSetpoint: s.number('Before the edge.'),
  setpoint: s.number('After the edge.'),
  periodS: s.number('Of one sample.'),
  figures,
} as const;

/** A captured step without its samples. */
export const stepSummary = s.named('StepSummary', s.growing(members));
export type StepSummary = s.TypeOf<typeof stepSummary>;

const samples = s.growing({ setpoint: s.array(s.number()), measured: s.array(s.number()) });

/** A captured step with its samples. */
export const rememberedStep = s.answer('RememberedStep', { ...members, samples });
export type RememberedStep = s.TypeOf<typeof rememberedStep>;

export const measuredStep = s.answer(
  'MeasuredStep',
  { number: members.number, at: members.at, figures },
  'The newest step that was measured with these gains. `number` finds its samples.',
);
export type MeasuredStep = s.TypeOf<typeof measuredStep>;

/** The data of event `step`. */
export const step = s.answer('Step', {
  unit: s.oneOf(UNIT_LIST.map(unit => unit.name)),
  loop: s.text('Name of the loop.'),
  number: s.count('Counts captures since the controller started, and wraps around.'),
  rateHz: s.number("The controller's loop rate."),
  decimation: s.count('Loop periods between two samples.'),
  periodS: s.number('Of one sample.'),
  samples,
  figures,
});

export type Step = s.TypeOf<typeof step>;
