import type { Gains } from '../core/units.js';
import { type Course, simulate } from './closed-loop.js';
import { type LoopShape, outputReach, type Plant } from './plant.js';

/**
 * The behaviour of a simulated plant with certain gains. Errors are relative to the height of the step, so that every
 * figure except the overshoot is in seconds.
 */
interface StepEvaluation {
  readonly settlingS: number;
  readonly overshootPercent: number;
  /** Root of the time-weighted area of the error. For a clean exponential approach this is its time constant. */
  readonly slownessS: number;
  /** Area of the error after a load begins. The load is a tenth of the output's reach. */
  readonly loadS: number;
}

export interface Evaluation extends StepEvaluation {
  /** Area of the error while the setpoint moves by one step in half a second. */
  readonly lagS: number;
}

/** The step that is simulated. */
export interface Horizon {
  /** The height of the step. */
  readonly size: number;
  /** The length of a half period. */
  readonly seconds: number;
  /** The output of the resting loop. */
  readonly output: number;
}

const BAND = 0.02;
const LOAD_OF_REACH = 0.1;
const RAMP_S = 0.5;

/** Evaluates a step, and then a moving setpoint. Values are infinite if the loop runs away. */
export function evaluate(plant: Plant, shape: LoopShape, gains: Gains, horizon: Horizon): Evaluation {
  return { ...evaluateStep(plant, shape, gains, horizon), lagS: lagOf(plant, shape, gains, horizon) };
}

/** Evaluates without the moving setpoint. */
export function evaluateStep(plant: Plant, shape: LoopShape, gains: Gains, horizon: Horizon): StepEvaluation {
  const { size, seconds } = horizon;
  const { periodS } = shape;
  const ticks = Math.round(seconds / periodS);
  const from = restAt(-size / 2, plant, shape, horizon);
  const load = { size: LOAD_OF_REACH * outputReach(shape), fromTick: ticks };
  const course = { setpoints: [size / 2, size / 2], ticksEach: ticks, from, load };
  const y = simulate(plant, shape, gains, course, 20 * size);
  if (y === undefined) return RUNAWAY;
  let peak = 0;
  let last = 0;
  let weighted = 0;
  for (let tick = 0; tick < ticks; tick += 1) {
    const error = (size / 2 - (y[tick] ?? 0)) / size;
    if (-error > peak) peak = -error;
    if (error > BAND || error < -BAND) last = tick;
    weighted += Math.abs(error) * tick;
  }
  let loaded = 0;
  for (let tick = ticks; tick < 2 * ticks; tick += 1) loaded += Math.abs(size / 2 - (y[tick] ?? 0));
  return {
    settlingS: (last + 1) * periodS,
    overshootPercent: 100 * peak,
    slownessS: Math.sqrt(weighted) * periodS,
    loadS: (loaded * periodS) / size,
  };
}

function lagOf(plant: Plant, shape: LoopShape, gains: Gains, horizon: Horizon): number {
  const { size } = horizon;
  const { periodS } = shape;
  const ramp = size / RAMP_S;
  const from = restAt(0, plant, shape, horizon);
  const course = { setpoints: [0], ticksEach: Math.round(RAMP_S / periodS), from, ramp };
  const y = simulate(plant, shape, gains, course, 20 * size);
  if (y === undefined) return Number.POSITIVE_INFINITY;
  let behind = 0;
  for (const [tick, value] of y.entries()) behind += Math.abs(ramp * tick * periodS - value);
  return (behind * periodS) / size;
}

/** The loop at rest. A servo holds its load. Other plants rest at the recorded output. */
export function restAt(value: number, plant: Plant, shape: LoopShape, { output }: Horizon): Course['from'] {
  return { measured: value, setpoint: value, output: shape.plant === 'servo' ? plant.offset : output };
}

const RUNAWAY: StepEvaluation = {
  settlingS: Number.POSITIVE_INFINITY,
  overshootPercent: Number.POSITIVE_INFINITY,
  slownessS: Number.POSITIVE_INFINITY,
  loadS: Number.POSITIVE_INFINITY,
};

/** How close the loop is to oscillating, if the delay is somewhat longer than the fitted one. */
export function livelinessOf(plant: Plant, shape: LoopShape, gains: Gains, sampleS: number): number {
  const doubt = Math.max(sampleS / 2, 0.0015, 0.15 * plant.delayS);
  return peakSensitivity({ ...plant, delayS: plant.delayS + doubt }, shape, gains);
}

/**
 * Standard deviation of the output due to noise of `sigma` on the measured value, as a fraction of the
 * output's reach.
 */
export function restlessnessOf(shape: LoopShape, { kp, kd }: Gains, sigma: number): number {
  const derivative = kd / (shape.derivativeFilterS + shape.periodS);
  return (sigma * Math.hypot(kp, derivative)) / outputReach(shape);
}

const FREQUENCIES = 80;
const LOWEST_RAD_S = 0.3;

/**
 * The peak of |1 / (1 + L)| over the frequencies, without friction and limits. 1 is calm, 2 is lively, and more is
 * close to oscillating. Sampling counts as a delay of half a loop period.
 */
export function peakSensitivity(plant: Plant, shape: LoopShape, { kp, ki, kd }: Gains): number {
  const highest = (0.9 * Math.PI) / shape.periodS;
  const delayS = plant.delayS + shape.periodS / 2;
  const filterS = shape.derivativeFilterS;
  let most = 0;
  for (let index = 0; index < FREQUENCIES; index += 1) {
    const w = LOWEST_RAD_S * (highest / LOWEST_RAD_S) ** (index / (FREQUENCIES - 1));
    // Controller: kp + ki / jw + kd jw / (1 + jw Tf)
    const filtered = 1 + (w * filterS) ** 2;
    const cRe = kp + (kd * w * w * filterS) / filtered;
    const cIm = -ki / w + (kd * w) / filtered;
    // Plant: gain / (jw + 1 / tau). A servo and an integrator have a further factor 1 / jw.
    const slow = 1 / plant.tauS;
    const size = plant.gain / (slow * slow + w * w);
    let pRe = size * slow;
    let pIm = -size * w;
    if (shape.plant !== 'lag') [pRe, pIm] = [pIm / w, -pRe / w];
    const sensed = 1 / Math.hypot(1, w * plant.sensorS);
    const turn = w * delayS + Math.atan(w * plant.sensorS);
    const cosine = sensed * Math.cos(turn);
    const sine = -sensed * Math.sin(turn);
    const re = pRe * cosine - pIm * sine;
    const im = pRe * sine + pIm * cosine;
    const openRe = cRe * re - cIm * im;
    const openIm = cRe * im + cIm * re;
    most = Math.max(most, 1 / Math.hypot(1 + openRe, openIm));
  }
  return most;
}
