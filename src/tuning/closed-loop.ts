import type { Gains } from '../core/units.js';
import type { LoopShape, Plant } from './plant.js';

/** The setpoints of the loop from the first edge on. Each holds for `ticksEach` loop periods. */
export interface Course {
  readonly setpoints: readonly number[];
  readonly ticksEach: number;
  /** The loop at rest, before the first edge. */
  readonly from: { readonly measured: number; readonly output: number; readonly setpoint: number };
  /**
   * True if the controller's output does not jump at the first edge: it starts from the old output, and the
   * difference fades.
   */
  readonly bridged?: boolean;
  /** A load that is added to the output from this tick on, after the controller. */
  readonly load?: { readonly size: number; readonly fromTick: number };
  /** A ramp that is added to the setpoint, in its quantity per second. */
  readonly ramp?: number;
}

const FADE_S = 0.1;
/** The longest delay of a plant, in loop periods. */
const LONGEST_DELAY = 512;
/** All simulations share these buffers. They begin with LONGEST_DELAY outputs of the resting loop. */
let outputs = new Float64Array(16 * 1024);
let measured = new Float64Array(16 * 1024);

/**
 * Simulates the firmware's PID on this plant. Returns the measured value of every loop period, in a buffer that the
 * next simulation overwrites. Returns undefined if the measured value goes beyond `bound`.
 */
export function simulate(
  plant: Plant,
  shape: LoopShape,
  gains: Gains,
  course: Course,
  bound = Number.POSITIVE_INFINITY,
): Float64Array | undefined {
  const T = shape.periodS;
  const { min, max } = shape.outputLimits;
  const { kp, ki, kd } = gains;
  const smoothing = T / (shape.derivativeFilterS + T);
  const fading = Math.exp(-T / FADE_S);
  const { setpoints, ticksEach, from } = course;
  const ramp = (course.ramp ?? 0) * T;
  const loadFrom = course.load?.fromTick ?? Number.POSITIVE_INFINITY;
  const loadSize = course.load?.size ?? 0;
  const ticks = setpoints.length * ticksEach;

  const decay = Math.exp(-T / plant.tauS);
  const reach = plant.gain * plant.tauS * (1 - decay);
  const sticking = reach * plant.friction;
  const steepest = plant.steepest * T;
  const sensing = plant.sensorS === 0 ? 1 : 1 - Math.exp(-T / plant.sensorS);
  const isLag = shape.plant === 'lag';
  // For a lag without friction, the offset follows from the output that held the lag at rest.
  const offset =
    isLag && plant.friction === 0 ? from.output - from.measured / (plant.gain * plant.tauS) : plant.offset;

  const delayTicks = Math.min(LONGEST_DELAY - 2, plant.delayS / T);
  const whole = Math.floor(delayTicks);
  const part = delayTicks - whole;
  if (outputs.length < ticks + LONGEST_DELAY) {
    outputs = new Float64Array(2 * (ticks + LONGEST_DELAY));
    measured = new Float64Array(2 * ticks);
  }
  outputs.fill(from.output, 0, LONGEST_DELAY);

  let y = from.measured;
  let v = isLag ? y : 0;
  let before = y;
  let derivative = 0;
  let integral = ki === 0 ? 0 : from.output - kp * (from.setpoint - from.measured);
  let bridge = 0;
  let tick = 0;

  for (const held of setpoints) {
    for (const end = tick + ticksEach; tick < end; tick += 1) {
      measured[tick] = y;
      const error = held + ramp * tick - y;
      derivative += smoothing * ((before - y) / T - derivative);
      before = y;
      const direct = kp * error + kd * derivative;
      if (tick === 0 && course.bridged === true) {
        integral = ki === 0 ? 0 : from.output;
        bridge = from.output - direct - integral;
      } else bridge *= fading;
      const increment = ki * error * T;
      const wanted = direct + integral + increment + bridge;
      if (!((wanted > max && increment > 0) || (wanted < min && increment < 0))) {
        integral += increment;
        if (integral > max) integral = max;
        else if (integral < min) integral = min;
      }
      let output = direct + integral + bridge;
      if (output > max) output = max;
      else if (output < min) output = min;

      const place = tick + LONGEST_DELAY;
      outputs[place] = output;
      const late = outputs[place - whole] ?? 0;
      let drive = late + part * ((outputs[place - whole - 1] ?? 0) - late) - offset;
      if (tick >= loadFrom) drive += loadSize;

      const old = v;
      v = v * decay + reach * drive;
      if (v > sticking) v -= sticking;
      else if (v < -sticking) v += sticking;
      else if (sticking > 0) v = 0;
      if (v > old + steepest) v = old + steepest;
      else if (v < old - steepest) v = old - steepest;
      if (isLag) y += sensing * (v - y);
      else y += ((old + v) / 2) * T;
      if (!(y < bound && y > -bound)) return undefined;
    }
  }
  return measured.subarray(0, ticks);
}
