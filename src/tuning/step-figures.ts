import type { StepFigures } from '../schemas/step.js';

interface StepSamples {
  /** The first sample is taken at the moment of the step, before anything has moved. */
  readonly measured: ArrayLike<number>;
  readonly periodS: number;
  /** The setpoint after the step; by default the final value, as for an open loop. */
  readonly setpoint?: number;
  /** The setpoint before the step; by default the first sample. */
  readonly oldSetpoint?: number;
  /** The loop's output over the same time, perhaps with fewer samples. */
  readonly output?: ArrayLike<number> | undefined;
  readonly outputLimits?: { readonly min: number; readonly max: number } | undefined;
}

/** The figures of nothing. */
export const NO_FIGURES: StepFigures = {
  end: null,
  overshootPercent: null,
  riseS: null,
  settlingS: null,
  bandPercent: null,
  peak: null,
  peakTimeS: null,
  steadyError: null,
  finalValue: null,
  iae: null,
  oscillation: null,
  atLimitShare: null,
};

const TAIL = 0.02;
const BAND = 0.02;
/**
 * The widest band in which a response may settle, as a fraction of the step. More noise than this counts as an
 * oscillation that is faster than the samples.
 */
const WIDEST_BAND = 0.1;
/** The settling band is at least this many standard deviations of the noise. */
const NOISE_IN_BAND = 3.5;
/** A response that leaves the band in this last fraction of the record has not settled. */
const WATCHED = 0.05;
/**
 * A step is not measured if it is below this fraction of the largest movement, or if the movement is below
 * this fraction of the step.
 */
const MOVED = 1e-3;
/** A response still moves if it drifts by this fraction of the settling band within a twentieth of its record. */
const DRIFT_IN_BAND = 0.1;
/** An output is at its limit if it is closer to the limit than this fraction of its range. */
const AT_LIMIT = 0.002;

function meanOf(values: ArrayLike<number>, from: number, to: number): number {
  let sum = 0;
  for (let index = from; index < to; index += 1) sum += values[index] ?? Number.NaN;
  return sum / (to - from);
}

/** The difference between the means of the last twentieth of the samples and the twentieth before. */
function driftOf(measured: ArrayLike<number>): number {
  const count = measured.length;
  const part = Math.max(1, Math.floor(count * WATCHED));
  return meanOf(measured, count - part, count) - meanOf(measured, count - 2 * part, count - part);
}

function shareAtLimit({ output, outputLimits }: StepSamples): number | null {
  if (output === undefined || outputLimits === undefined || output.length === 0) return null;
  const { min, max } = outputLimits;
  const slack = AT_LIMIT * (max - min);
  const limited = Array.from(output).filter(value => value <= min + slack || value >= max - slack);
  return limited.length / output.length;
}

/** The figures of a step response. Times are interpolated between samples, except the peak's. */
export function stepFigures(samples: StepSamples): StepFigures {
  const { measured, periodS } = samples;
  const count = measured.length;
  const at = (index: number) => measured[index] ?? Number.NaN;
  const finalValue = meanOf(measured, count - Math.max(1, Math.floor(count * TAIL)), count);
  const setpoint = samples.setpoint ?? finalValue;
  const initial = samples.oldSetpoint ?? at(0);
  const step = setpoint - initial;
  const size = Math.abs(step);
  let moved = 0;
  let iae = 0;
  for (let index = 0; index < count; index += 1) {
    moved = Math.max(moved, Math.abs(at(index) - at(0)));
    iae += Math.abs(setpoint - at(index)) * periodS;
  }
  if (count === 0 || !Number.isFinite(size + moved + iae)) return NO_FIGURES;
  const steadyError = samples.setpoint === undefined ? null : setpoint - finalValue;
  const seen = { steadyError, finalValue, iae, atLimitShare: shareAtLimit(samples) };
  if (Math.min(size, moved) <= MOVED * Math.max(size, moved)) return { ...NO_FIGURES, ...seen };

  const partAt = (index: number) => (at(index) - initial) / step;
  /** The time at which the response crosses `level` of the step, between the samples `index - 1` and `index`. */
  const passesS = (index: number, level: number) => {
    const before = partAt(index - 1);
    return (index - 1 + (level - before) / (partAt(index) - before)) * periodS;
  };
  const band = Math.min(WIDEST_BAND, Math.max(BAND, (NOISE_IN_BAND * noiseOf(measured)) / size));
  let tenth: number | null = null;
  let ninetieth: number | null = null;
  let peak = 0;
  let last = 0;
  for (let index = 0; index < count; index += 1) {
    const part = partAt(index);
    const before = index === 0 ? 1 : partAt(index - 1);
    if (tenth === null && before < 0.1 && part >= 0.1) tenth = passesS(index, 0.1);
    if (ninetieth === null && before < 0.9 && part >= 0.9) ninetieth = passesS(index, 0.9);
    if (part > partAt(peak)) peak = index;
    if (Math.abs(part - 1) > band) last = index;
  }
  const watchedFrom = count * (1 - WATCHED);
  const settled = last + 1 < watchedFrom;
  const oscillation = settled ? null : oscillationOf(measured, periodS, band * size, size);
  const moving =
    !settled && oscillation === null && Math.abs(driftOf(measured)) > DRIFT_IN_BAND * band * size;
  return {
    ...seen,
    end: settled ? 'settled' : oscillation !== null ? 'rings' : moving ? 'moving' : 'off',
    // The highest value of a response that still moves may not be its peak.
    overshootPercent: moving && peak >= watchedFrom ? null : Math.max(0, 100 * (partAt(peak) - 1)),
    riseS: tenth === null || ninetieth === null ? null : ninetieth - tenth,
    settlingS: settled ? passesS(last + 1, partAt(last) < 1 ? 1 - band : 1 + band) : null,
    bandPercent: 100 * band,
    peak: at(peak),
    peakTimeS: peak * periodS,
    oscillation,
  };
}

/** Oscillations are looked for in this last fraction of the record. */
const LATE = 0.6;
/** An oscillation smaller than this fraction of the step does not count. */
const SWING = 0.04;
/** One and a half periods have this many crossings. With fewer, the response has only overshot and returned. */
const CROSSINGS = 3;

/** The oscillation in the last part of the record, if it is more than `band` and lasts one and a half periods. */
function oscillationOf(measured: ArrayLike<number>, periodS: number, band: number, step: number) {
  const from = Math.floor(measured.length * (1 - LATE));
  const late = Array.from(measured).slice(from);
  const low = late.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);
  const high = late.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
  const middle = (low + high) / 2;
  const least = Math.max(SWING * step, band);
  const crossings: number[] = [];
  let side = 0;
  for (const [index, value] of late.entries()) {
    const away = value - middle;
    if (Math.abs(away) < least / 2 || Math.sign(away) === side) continue;
    if (side !== 0) crossings.push(index);
    side = Math.sign(away);
  }
  const swing = (high - low) / 2;
  const first = crossings[0];
  const last = crossings.at(-1);
  if (swing < least || crossings.length < CROSSINGS || first === undefined || last === undefined) return null;
  return { swing, frequencyHz: (crossings.length - 1) / (2 * (last - first) * periodS) };
}

/** Root of the sum of the squared binomial coefficients of a fourth difference. */
const FOURTH_DIFFERENCE = Math.sqrt(70);

/** Standard deviation of the noise from sample to sample. The loop's own movement is too smooth to count. */
export function noiseOf(measured: ArrayLike<number>): number {
  const from = Math.floor(measured.length * (1 - LATE));
  const at = (index: number) => measured[index] ?? 0;
  let squares = 0;
  let count = 0;
  for (let index = from + 4; index < measured.length; index += 1) {
    const difference = at(index) - 4 * at(index - 1) + 6 * at(index - 2) - 4 * at(index - 3) + at(index - 4);
    squares += difference * difference;
    count += 1;
  }
  return count === 0 ? 0 : Math.sqrt(squares / count) / FOURTH_DIFFERENCE;
}

/** Overshoot up to this many percent costs nothing. */
const OVERSHOOT_BORNE = 3;

/**
 * The cost of a measured step in seconds: its settling time plus the area of its error, increased by overshoot. Less is
 * better. `size` is the height of the step. `unsettledS` is the settling time of a step that does not settle.
 */
export function stepScore(
  { settlingS, overshootPercent, iae }: StepFigures,
  { size, unsettledS }: { readonly size: number; readonly unsettledS: number },
): number {
  const area = (iae ?? 0) / Math.max(1e-9, Math.abs(size));
  const beyond = Math.max(0, (overshootPercent ?? 0) - OVERSHOOT_BORNE);
  return ((settlingS ?? unsettledS) + area) * (1 + 0.3 * beyond);
}
