import type { Gains } from '../core/units.js';
import { type Course, simulate } from './closed-loop.js';
import { type LoopShape, outputReach } from './loop-shape.js';
import type { Plant } from './plant.js';
import { peakSensitivity } from './sensitivity.js';

/** How a simulated plant behaves with certain gains. Areas are divided by the step, so that they are seconds too. */
export interface Evaluation {
  readonly settlingS: number;
  readonly overshootPercent: number;
  /** Root of the time-weighted area of the error. For a clean exponential approach this is its time constant. */
  readonly slownessS: number;
  /** Area of the error after a load of a tenth of the output's reach sets in. */
  readonly loadS: number;
  /** Area of the error while the setpoint moves by one step in half a second. */
  readonly lagS: number;
}

/** What is simulated. */
export interface Horizon {
  /** The height of the step. */
  readonly size: number;
  /** The length of a half wave. */
  readonly seconds: number;
  /** The output of the resting loop. */
  readonly output: number;
}

const BAND = 0.02;
const LOAD_OF_REACH = 0.1;
const RAMP_S = 0.5;

export class Evaluator {
  readonly shape: LoopShape;
  readonly horizon: Horizon;
  readonly #measured: Float64Array;
  readonly #ticks: number;
  readonly #rampTicks: number;

  constructor(shape: LoopShape, horizon: Horizon) {
    this.shape = shape;
    this.horizon = horizon;
    this.#ticks = Math.round(horizon.seconds / shape.periodS);
    this.#rampTicks = Math.round(RAMP_S / shape.periodS);
    this.#measured = new Float64Array(2 * this.#ticks + this.#rampTicks);
  }

  /** Values are infinite if the loop runs away. */
  of(plant: Plant, gains: Gains): Evaluation {
    return { ...this.stepOf(plant, gains), lagS: this.#lagS(plant, gains) };
  }

  /** Evaluates without the moving setpoint. */
  stepOf(plant: Plant, gains: Gains): Omit<Evaluation, 'lagS'> {
    const { size } = this.horizon;
    const { periodS } = this.shape;
    const ticks = this.#ticks;
    const from = restAt(-size / 2, plant, this.shape, this.horizon);
    const load = { size: LOAD_OF_REACH * outputReach(this.shape), fromTick: ticks };
    const y = this.#measured;
    const course = { setpoints: [size / 2, size / 2], ticksEach: ticks, from, load };
    if (!simulate(plant, this.shape, gains, course, y, 20 * size)) return RUNAWAY;
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

  #lagS(plant: Plant, gains: Gains): number {
    const { size } = this.horizon;
    const from = restAt(0, plant, this.shape, this.horizon);
    const rate = size / RAMP_S;
    const course = { setpoints: [0], ticksEach: this.#rampTicks, from, ramp: rate };
    const y = this.#measured;
    if (!simulate(plant, this.shape, gains, course, y, 20 * size)) return Number.POSITIVE_INFINITY;
    let behind = 0;
    for (let tick = 0; tick < this.#rampTicks; tick += 1) {
      behind += Math.abs(rate * tick * this.shape.periodS - (y[tick] ?? 0));
    }
    return (behind * this.shape.periodS) / size;
  }
}

/** The loop at rest. A servo holds its load; other plants rest at the recorded output. */
export function restAt(value: number, plant: Plant, shape: LoopShape, { output }: Horizon): Course['from'] {
  return { measured: value, setpoint: value, output: shape.plant === 'servo' ? plant.offset : output };
}

const RUNAWAY: Evaluation = {
  settlingS: Number.POSITIVE_INFINITY,
  overshootPercent: Number.POSITIVE_INFINITY,
  slownessS: Number.POSITIVE_INFINITY,
  loadS: Number.POSITIVE_INFINITY,
  lagS: Number.POSITIVE_INFINITY,
};

/** How near the loop is to swinging, if the delay is somewhat longer than the fitted one. */
export function livelinessOf(plant: Plant, shape: LoopShape, gains: Gains, sampleS: number): number {
  const doubt = Math.max(sampleS / 2, 0.0015, 0.15 * plant.delayS);
  return peakSensitivity({ ...plant, delayS: plant.delayS + doubt }, shape, gains);
}

/** Standard deviation of the output that noise of `sigma` on the measured value causes, as a part of the output's reach. */
export function restlessnessOf(shape: LoopShape, { kp, kd }: Gains, sigma: number): number {
  const derivative = kd / (shape.derivativeFilterS + shape.periodS);
  return (sigma * Math.hypot(kp, derivative)) / outputReach(shape);
}
