import { isObject } from './is-object.js';
import type { Gains } from './units.js';

/** Whether parsed JSON is the gains of one loop. */
export function isGains(value: unknown): value is Gains {
  return isObject(value) && [value.kp, value.ki, value.kd].every(Number.isFinite);
}
