import type { Gains } from './units.js';

/** Whether parsed JSON is an object, and not a list. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether parsed JSON is the gains of one loop. */
export function isGains(value: unknown): value is Gains {
  return isObject(value) && [value.kp, value.ki, value.kd].every(Number.isFinite);
}

/** The value of a JSON text; undefined if there is no text, or if it is not JSON. */
export function parsedJson(text: string | null): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}
