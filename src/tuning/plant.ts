import { controllerOf, type LoopController } from '../core/loop-controllers.js';
import type { GainBounds, Loop } from '../core/units.js';

/** What the tuner knows of a loop in advance. */
export interface LoopShape extends LoopController, Pick<Loop, 'inner'> {
  readonly periodS: number;
  /** The gains that the loop may have. */
  readonly bounds: GainBounds;
}

export function shapeOf(loop: Loop, rateHz: number, bounds: GainBounds = {}): LoopShape {
  return { ...controllerOf(loop), inner: loop.inner, periodS: 1 / rateHz, bounds };
}

/** Half of the output's range. */
export function outputReach({ outputLimits: { min, max } }: LoopShape): number {
  return (max - min) / 2;
}

/**
 * The plant that the output moves. Let u be the delayed output minus `offset`. A lag is y' = gain (u - friction sgn
 * y) - y / tau. A servo and an integrator are y' = v, v' = gain (u - friction sgn v) - v / tau.
 */
export interface Plant {
  readonly gain: number;
  readonly tauS: number;
  readonly delayS: number;
  /** Outputs smaller than this move nothing. */
  readonly friction: number;
  /** The output at which the plant rests, for example against gravity. */
  readonly offset: number;
  /** Time constant of the sensor that measures a lag. */
  readonly sensorS: number;
  /** Largest change of v per second. */
  readonly steepest: number;
}

interface Parameter {
  readonly name: keyof Plant;
  readonly low: number;
  readonly high: number;
  readonly isLinear?: boolean;
}

const STILL: Plant = {
  gain: 1,
  tauS: 1,
  delayS: 0,
  friction: 0,
  offset: 0,
  sensorS: 0,
  steepest: Number.POSITIVE_INFINITY,
};

/**
 * The possible plants for a step of `size` from a resting output of `output`. The step needs at most `reach` more
 * output. For a search, `plantAt` maps points of the unit cube to plants.
 */
export function plantSpace(shape: LoopShape, size: number, output: number, reach: number) {
  const parameters = parametersOf(shape, size, output, reach);
  const plantAt = (point: readonly number[]) => {
    const plant: { -readonly [Name in keyof Plant]: number } = { ...STILL };
    parameters.forEach(({ name, low, high, isLinear }, index) => {
      const share = folded(point[index] ?? 0);
      plant[name] = isLinear === true ? low + share * (high - low) : low * (high / low) ** share;
    });
    // For a lag and an integrator, the searched value is the final value per unit of output.
    return shape.plant === 'servo' ? plant : { ...plant, gain: plant.gain / plant.tauS };
  };
  return { dimensions: parameters.length, plantAt };
}

/** Mirrors a value into the range 0 to 1, so that a search finds a slope at both ends. */
function folded(value: number): number {
  const beyond = Math.abs(value) % 2;
  return beyond > 1 ? 2 - beyond : beyond;
}

function parametersOf(shape: LoopShape, size: number, output: number, reach: number): readonly Parameter[] {
  const delay = { name: 'delayS', low: 1e-4, high: 0.2 } as const;
  const friction = { name: 'friction', low: 1e-4 * reach, high: 0.5 * reach } as const;
  const steepest = { name: 'steepest', low: size, high: 20_000 * size } as const;
  const ends = { low: (0.5 * size) / reach, high: (200 * size) / reach } as const;
  /** The range of an outer loop's gain. The inner loop follows the output as its setpoint, so the gain is near 1. */
  const asAsked = { low: 0.5, high: 2 } as const;
  const isOuter = shape.inner !== undefined;
  switch (shape.plant) {
    case 'lag':
      return [
        { name: 'gain', ...(isOuter ? asAsked : ends) },
        { name: 'tauS', low: 0.003, high: 3 },
        delay,
        ...(isOuter ? [] : [friction, { name: 'sensorS', low: 3e-4, high: 1 } as const, steepest]),
      ];
    case 'integrator':
      return [
        { name: 'gain', ...(isOuter ? asAsked : ends) },
        { name: 'tauS', low: 0.005, high: 1 },
        delay,
        steepest,
      ];
    case 'servo':
      // At the lowest gain, an output of `reach` moves the loop by the whole step in 2 s. At the highest gain it
      // needs 2 ms.
      return [
        { name: 'gain', low: (2 * size) / (reach * 2 ** 2), high: (2 * size) / (reach * 0.002 ** 2) },
        { name: 'tauS', low: 0.01, high: 10 },
        delay,
        friction,
        { name: 'offset', low: output - 0.3 * reach, high: output + 0.3 * reach, isLinear: true },
      ];
  }
}
