import type { Loop, LoopController } from '../core/units.js';

/** What the tuner knows of a loop before it has seen it move. */
export interface LoopShape extends LoopController {
  /** Of the loop. */
  readonly periodS: number;
}

export function shapeOf({ controller }: Loop, rateHz: number): LoopShape {
  return { ...controller, periodS: 1 / rateHz };
}

/** Half of the output's range. */
export function outputReach({ outputLimits: { min, max } }: LoopShape): number {
  return (max - min) / 2;
}
