import { controllerOf, type LoopController } from '../core/loop-controllers.js';
import type { Loop } from '../core/units.js';

/** The properties of a loop that the tuner knows before it has seen it move. */
export interface LoopShape extends LoopController, Pick<Loop, 'inner'> {
  /** The period of the loop. */
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
