import type { LoopShape } from './loop-shape.js';

/**
 * The thing that the output moves. With the output u, late by the delay, less `offset`: a lag y' = gain (u - friction
 * sgn y) - y / tau; a servo and an integrator y' = v, v' = gain (u - friction sgn v) - v / tau.
 */
export interface Plant {
  readonly gain: number;
  readonly tauS: number;
  readonly delayS: number;
  /** The output up to which nothing moves. */
  readonly friction: number;
  /** The output that holds it still, for example against gravity. */
  readonly offset: number;
  /** Time constant of the sensor that measures a lag. */
  readonly sensorS: number;
  /** Largest change of v in a second. */
  readonly steepest: number;
}

interface Parameter {
  readonly name: keyof Plant;
  readonly low: number;
  readonly high: number;
  readonly isLinear?: boolean;
}

/** A plant as a point in the unit cube, for whoever searches one. */
interface PlantSpace {
  readonly dimensions: number;
  at(point: ArrayLike<number>): Plant;
}

/**
 * The space of all plants that could have answered a step of `size` in this way, from an output of `output` and with at
 * most `reach` more.
 */
export function plantSpace(shape: LoopShape, size: number, output: number, reach: number): PlantSpace {
  const parameters = parametersOf(shape, size, output, reach);
  const still: Plant = {
    gain: 1,
    tauS: 1,
    delayS: 0,
    friction: 0,
    offset: 0,
    sensorS: 0,
    steepest: Number.POSITIVE_INFINITY,
  };
  return {
    dimensions: parameters.length,
    at(point) {
      const plant: { -readonly [Name in keyof Plant]: number } = { ...still };
      parameters.forEach(({ name, low, high, isLinear }, index) => {
        const share = folded(point[index] ?? 0);
        plant[name] = isLinear === true ? low + share * (high - low) : low * (high / low) ** share;
      });
      // A lag and an integrator are searched by the value that they end at for each unit of output.
      if (shape.plant !== 'servo') plant.gain /= plant.tauS;
      return plant;
    },
  };
}

/**
 * Folds a value into 0 to 1 by mirroring it at both ends, because a search that stood at an end would feel no slope
 * there.
 */
function folded(value: number): number {
  const beyond = Math.abs(value) % 2;
  return beyond > 1 ? 2 - beyond : beyond;
}

function parametersOf(shape: LoopShape, size: number, output: number, reach: number): readonly Parameter[] {
  const delay = { name: 'delayS', low: 1e-4, high: 0.2 } as const;
  const friction = { name: 'friction', low: 1e-4 * reach, high: 0.5 * reach } as const;
  const steepest = { name: 'steepest', low: size, high: 20_000 * size } as const;
  const ends = { low: (0.5 * size) / reach, high: (200 * size) / reach } as const;
  /** An outer loop moves what its inner loop is asked for, unit by unit. */
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
      // The gain is searched by the time in which the whole output would cover the step.
      return [
        { name: 'gain', low: (2 * size) / (reach * 2 ** 2), high: (2 * size) / (reach * 0.002 ** 2) },
        { name: 'tauS', low: 0.01, high: 10 },
        delay,
        friction,
        { name: 'offset', low: output - 0.3 * reach, high: output + 0.3 * reach, isLinear: true },
      ];
  }
}
