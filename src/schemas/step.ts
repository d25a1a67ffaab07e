import { UNIT_LIST } from '../core/units.js';
import { loopGains } from './gains.js';
import { array, count, growing, named, nullable, number, oneOf, type TypeOf, text, yesNo } from './schema.js';

/**
 * How a response stands at the end of its record. `moving`: the record is too short for this loop. `rings`: the loop
 * still swings. `off`: it stands still, but not at the setpoint.
 */
const STEP_ENDS = ['settled', 'off', 'moving', 'rings'] as const;

const figure = (description: string) => nullable(number(), description);

export const figures = named(
  'StepFigures',
  growing({
    end: nullable(
      oneOf(STEP_ENDS),
      'How it stands at the end of the record: settled; off, still but not where it was asked to be; moving, since the period is too short for this loop; rings, it swings on.',
    ),
    overshootPercent: figure('Beyond the new setpoint, of the step.'),
    riseS: figure('From 10 % to 90 % of the step.'),
    settlingS: figure('Until it stays within bandPercent of the step around the new setpoint.'),
    bandPercent: figure('At least 2; more where noise alone would leave 2 %.'),
    peak: figure('The farthest point in the direction of the step.'),
    peakTimeS: figure('Until the peak.'),
    steadyError: figure('Setpoint minus final value.'),
    finalValue: figure('Mean of the last 2 % of the samples.'),
    iae: figure("Integral of the error's absolute value over the record."),
    oscillation: nullable(
      growing({ swing: number('To either side of its middle.'), frequencyHz: number() }),
      'Of a loop that rings.',
    ),
    atLimitShare: figure(
      "Part of the time, 0 to 1, in which the loop's output stood at a limit, as the polls' telemetry showed it; null where fewer than 20 polls saw the step.",
    ),
  }),
  'What a tuner reads from a step response; null where the samples do not show it.',
);

/** What a tuner reads from a step response. `null` where the samples do not show it. */
export type StepFigures = TypeOf<typeof figures>;

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
