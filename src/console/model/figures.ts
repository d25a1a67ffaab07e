import type { MeasuredStep, RememberedStep } from '../../schemas/step.js';
import { fixed } from './numbers.js';

export function gainsText(gains: RememberedStep['gains'] | null | undefined): string {
  return gains == null ? '–' : `${gains.kp} · ${gains.ki} · ${gains.kd}`;
}

export function withUnit(value: number | null, decimals: number, unit: string): string {
  return value === null ? '–' : `${fixed(value, decimals)} ${unit}`;
}

/** Settling time and overshoot of a step, for small print. */
export function figuresText(step: MeasuredStep | undefined): string {
  const { settlingS = null, overshootPercent = null } = step?.figures ?? {};
  return `${milliseconds(settlingS)}, ${withUnit(overshootPercent, 1, '%')}`;
}

export function milliseconds(value: number | null): string {
  return withUnit(value === null ? null : value * 1000, value !== null && value < 0.1 ? 1 : 0, 'ms');
}
