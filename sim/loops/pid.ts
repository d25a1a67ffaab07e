import { controllerOf } from '../../src/core/loop-controllers.js';
import { type Gains, type Loop, sameGains } from '../../src/core/units.js';
import { clamped } from '../physics/angles.js';

export interface PidShape {
  readonly periodS: number;
  /** The differentiated value. The error jumps with the setpoint; the measured value does not. */
  readonly derivative: 'error' | 'measurement';
  /** Time constant of the first-order filter on the derivative; 0 = none. */
  readonly filterS: number;
  /** Limits of the output and of the integrator. */
  readonly min: number;
  readonly max: number;
}

/** The controller of a declared loop. */
export function pidOf(loop: Pick<Loop, 'unit' | 'name'>, periodS: number): Pid {
  const { outputLimits, derivativeFilterS: filterS } = controllerOf(loop);
  return new Pid({ periodS, derivative: 'measurement', filterS, ...outputLimits });
}

/** The time constant with which a jump of the output is faded out. */
const FADE_S = 0.1;

export const NO_GAINS: Gains = { kp: 0, ki: 0, kd: 0 };

/**
 * output = kp·e + integral of ki·e + kd·(derivative), within the limits. The integrator keeps its value in units of
 * the output. It stops while the output is at a limit and the error would push it further. When gains or mode change,
 * the output does not jump: the difference fades.
 */
export class Pid {
  readonly #shape: PidShape;
  readonly #smoothing: number;
  readonly #fading: number;
  #gains = NO_GAINS;
  #integral = 0;
  #derivative = 0;
  #differentiated: number | undefined;
  #bridge = 0;
  #joining = false;
  #output = 0;

  constructor(shape: PidShape) {
    this.#shape = shape;
    this.#smoothing = shape.periodS / (shape.filterS + shape.periodS);
    this.#fading = Math.exp(-shape.periodS / FADE_S);
  }

  /** Runs one loop period. If the limits are finite, any finite numbers give a finite output. */
  update(setpoint: number, measured: number, gains: Gains): number {
    const { periodS, min, max } = this.#shape;
    const error = setpoint - measured;
    this.#differentiate(error, measured);
    const joining = this.#joining || !sameGains(gains, this.#gains);
    if (joining) {
      this.#gains = gains;
      if (gains.ki === 0) this.#integral = 0;
    }
    const direct = gains.kp * error + gains.kd * this.#derivative;
    this.#bridge = joining ? this.#output - direct - this.#integral : this.#bridge * this.#fading;
    this.#joining = false;

    const increment = gains.ki * error * periodS;
    const wanted = direct + this.#integral + increment + this.#bridge;
    const pushesOut = (wanted > max && increment > 0) || (wanted < min && increment < 0);
    if (!pushesOut) this.#integral = clamped(this.#integral + increment, min, max);
    this.#output = clamped(direct + this.#integral + this.#bridge, min, max);
    return this.#output;
  }

  /** Call this before the setpoint jumps, so that the output does not jump. */
  join(): void {
    this.#joining = true;
  }

  /** Call this instead of `update` in a period in which something else sets the output. `update` then continues from that output. */
  follow(output: number, setpoint: number, measured: number): void {
    this.#differentiate(setpoint - measured, measured);
    this.#integral = output;
    this.#output = output;
    this.#joining = true;
  }

  /** Forgets everything but the gains. Call this if the measured value jumps. */
  start(): void {
    this.#differentiated = undefined;
    this.#derivative = 0;
    this.#integral = 0;
    this.#output = 0;
    this.#joining = true;
  }

  #differentiate(error: number, measured: number): void {
    const signal = this.#shape.derivative === 'error' ? error : -measured;
    const slope =
      this.#differentiated === undefined ? 0 : (signal - this.#differentiated) / this.#shape.periodS;
    this.#derivative += this.#smoothing * (slope - this.#derivative);
    this.#differentiated = signal;
  }
}
