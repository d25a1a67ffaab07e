import type { UnitName } from '../core/units.js';

/** A step response as the controller recorded it, in the loop's quantity. Sample 0 is the last before the edge. */
export interface StepCapture {
  readonly unit: UnitName;
  readonly loop: string;
  readonly number: number;
  readonly rateHz: number;
  readonly decimation: number;
  readonly setpoint: readonly number[];
  readonly measured: readonly number[];
}
