import type { Loop, UNITS, UnitName } from './units.js';

/** A loop's controller in the firmware, which docs/motor-protocol.md describes. The tuner simulates it. */
export interface LoopController {
  /**
   * What the output sets. `lag`: the measured value, with a delay. `integrator`: the rate of the measured value, as a speed
   * changes a position. `servo`: the acceleration, as a voltage turns an axis.
   */
  readonly plant: 'lag' | 'integrator' | 'servo';
  /** -1 if a larger output makes the measured value smaller. The firmware then inverts the error. */
  readonly sign: 1 | -1;
  readonly outputLimits: { readonly min: number; readonly max: number };
  /** Time constant of the filter on the derivative. */
  readonly derivativeFilterS: number;
}

const within = (limit: number) => ({ min: -limit, max: limit });

/** This table is not in units.ts, because the page bundles units.ts and does not need this table. */
const CONTROLLERS = {
  gimbal: {
    visual_yaw: { plant: 'lag', sign: -1, outputLimits: within(2.85), derivativeFilterS: 0.03 },
    visual_pitch: { plant: 'lag', sign: -1, outputLimits: { min: -0.5, max: 0.7 }, derivativeFilterS: 0.03 },
    angle_yaw: { plant: 'servo', sign: 1, outputLimits: within(24), derivativeFilterS: 0.002 },
    angle_pitch: { plant: 'servo', sign: 1, outputLimits: within(24), derivativeFilterS: 0.002 },
  },
  chassis: {
    speed: { plant: 'lag', sign: 1, outputLimits: within(16), derivativeFilterS: 0.01 },
    angle: { plant: 'servo', sign: 1, outputLimits: within(8), derivativeFilterS: 0.005 },
    position: { plant: 'integrator', sign: 1, outputLimits: within(1.2), derivativeFilterS: 0.01 },
  },
} as const satisfies {
  readonly [Unit in UnitName]: Readonly<Record<keyof (typeof UNITS)[Unit]['loops'], LoopController>>;
};

export function controllerOf({ unit, name }: Pick<Loop, 'unit' | 'name'>): LoopController {
  const controllers: Readonly<Record<string, LoopController>> = CONTROLLERS[unit];
  const found = controllers[name];
  if (found === undefined) throw new TypeError(`no loop named ${name}`);
  return found;
}

/** Whether the loop follows a target in the camera's image. */
export function isVisual(loop: Pick<Loop, 'unit' | 'name'>): boolean {
  return controllerOf(loop).sign === -1;
}
