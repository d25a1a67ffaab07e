import type { Gains } from './units.js';

/** Whether parsed JSON is an object, and not a list. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether parsed JSON is the gains of one loop. */
export function isGains(value: unknown): value is Gains {
  return isObject(value) && [value.kp, value.ki, value.kd].every(Number.isFinite);
}
