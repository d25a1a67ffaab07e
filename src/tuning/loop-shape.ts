import { controllerOf, type LoopController } from '../core/loop-controllers.js';
import type { Loop } from '../core/units.js';

/** What the tuner knows of a loop beforehand. */
export interface LoopShape extends LoopController, Pick<Loop, 'inner'> {
  readonly periodS: number;
}

export function shapeOf(loop: Loop, rateHz: number): LoopShape {
  return {
    ...controllerOf(loop),
    inner: loop.inner,
    periodS: 1 / rateHz,
  };
}

/** Half of the output's range. */
export function outputReach({ outputLimits: { min, max } }: LoopShape): number {
  return (max - min) / 2;
}
