import { growing, named, nullable, number, type TypeOf } from './schema.js';

const figure = (description: string) => nullable(number(), description);

/** Of the figures, those that event `step` shows. */
export const shownFigures = named(
  'StepFigures',
  growing({
    overshootPercent: figure('Of the way from the first sample to the final value.'),
    riseS: figure('From 10 % to 90 % of the way.'),
    settlingS: figure('Until the response stays within 2 % of the way around the final value.'),
    peakTimeS: figure('Until the largest value.'),
    steadyError: figure('Setpoint minus final value.'),
  }),
  'What a tuner reads from a step response; null where the samples do not show it.',
);

/** What a tuner reads from a step response. `null` where the samples do not show it. */
export type StepFigures = TypeOf<typeof shownFigures> & {
  /** Mean of the last 2 % of the samples. */
  readonly finalValue: number | null;
};

export interface StepRecord {
  /** The first sample is taken at the moment of the step, before anything has moved. */
  readonly measured: ArrayLike<number>;
  readonly periodS: number;
  /** After the step. */
  readonly setpoint: number;
}

const NONE: StepFigures = {
  overshootPercent: null,
  riseS: null,
  settlingS: null,
  peakTimeS: null,
  steadyError: null,
  finalValue: null,
};

const TAIL = 0.02;
const BAND = 0.02;
/** Left to see whether a response stays in the band: leaving it in this last part of the record is not settling. */
const WATCHED = 0.05;
/** Part of the largest excursion below which the final value is where the response began: nothing to measure. */
const MOVED = 1e-3;

/** Times are interpolated between samples, except the peak's. */
export function stepFigures({ measured, periodS, setpoint }: StepRecord): StepFigures {
  const count = measured.length;
  const at = (index: number) => measured[index] ?? Number.NaN;
  const tail = Math.max(1, Math.floor(count * TAIL));
  let sum = 0;
  for (let index = count - tail; index < count; index += 1) sum += at(index);
  const finalValue = sum / tail;
  const initial = at(0);
  const way = finalValue - initial;
  const wanted = setpoint - initial;
  if (!Number.isFinite(way) || !Number.isFinite(wanted)) return NONE;
  let swing = Math.abs(wanted);
  for (let index = 0; index < count; index += 1) swing = Math.max(swing, Math.abs(at(index) - initial));
  if (!Number.isFinite(swing)) return NONE;
  const steadyError = setpoint - finalValue;
  if (Math.abs(way) <= MOVED * swing) return { ...NONE, steadyError, finalValue };

  /** Between the samples `index - 1` and `index`, where the response passes `level` of the way. */
  const passesS = (index: number, level: number) => {
    const before = (at(index - 1) - initial) / way;
    const after = (at(index) - initial) / way;
    return (index - 1 + (level - before) / (after - before)) * periodS;
  };
  let tenth: number | null = null;
  let ninetieth: number | null = null;
  let peak = 0;
  let last = 0;
  for (let index = 0; index < count; index += 1) {
    const part = (at(index) - initial) / way;
    if (index > 0 && tenth === null && part >= 0.1) tenth = passesS(index, 0.1);
    if (index > 0 && ninetieth === null && part >= 0.9) ninetieth = passesS(index, 0.9);
    if (part > (at(peak) - initial) / way) peak = index;
    if (Math.abs(part - 1) > BAND) last = index;
  }
  const settled = last + 1 < count * (1 - WATCHED);
  const side = at(last) < finalValue === way > 0 ? 1 - BAND : 1 + BAND;
  return {
    overshootPercent: Math.max(0, (100 * (at(peak) - finalValue)) / way),
    riseS: tenth === null || ninetieth === null ? null : ninetieth - tenth,
    settlingS: settled ? passesS(last + 1, side) : null,
    peakTimeS: peak * periodS,
    steadyError,
    finalValue,
  };
}
