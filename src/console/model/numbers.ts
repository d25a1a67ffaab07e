import type { MeasuredStep, RememberedStep } from '../../schemas/step.js';

type Parsed = { readonly value: number } | { readonly fault: string };

/** Parses a gain as a person types it. */
export function parseGain(text: string): Parsed {
  const trimmed = text.trim().replace(/^\+/, '').replace('−', '-');
  if (trimmed === '') return { fault: 'is empty' };
  if (trimmed.includes(',')) return { fault: 'needs a point, not a comma' };
  if (!/^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(trimmed)) return { fault: 'is not a number' };
  const value = Number(trimmed);
  return Number.isFinite(value) ? { value } : { fault: 'is too large' };
}

const decimalsOf = (value: number) => {
  const [mantissa = '', exponent = '0'] = String(Math.abs(value)).split('e');
  return Math.max(0, (mantissa.split('.')[1] ?? '').length - Number(exponent));
};

const SMALLEST_EXPONENT = -4;

/** `fine` is a tenth of the usual step, `coarse` ten times the usual step. */
export type StepSize = 'fine' | 'usual' | 'coarse';
const STEP_EXPONENTS: Readonly<Record<StepSize, number>> = { fine: -2, usual: -1, coarse: 0 };

/**
 * Changes the second significant digit by one; a fine step changes the third. From a power of ten towards zero, the
 * step is ten times smaller: 1.0 goes to 0.99, and a step back gives 1.0 again.
 */
export function stepped(value: number, direction: 1 | -1, by: StepSize): number {
  const size = Math.abs(value);
  const shrinks = value !== 0 && Math.sign(value) !== direction;
  const exact = Math.floor(Math.log10(size) + 1e-9);
  const isPower = size > 0 && Number(`1e${exact}`) === size;
  const exponent = size === 0 ? -1 : shrinks && isPower ? exact - 1 : exact;
  const stepExponent = Math.max(SMALLEST_EXPONENT, exponent + STEP_EXPONENTS[by]);
  const decimals = Math.min(20, Math.max(decimalsOf(value), -stepExponent, 0));
  const next = Number((value + direction * 10 ** stepExponent).toFixed(decimals));
  return next === 0 ? 0 : next;
}

/** Formats with a fixed number of decimals and a typographic minus sign. */
export function fixed(value: number | null | undefined, decimals: number): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  const text = value.toFixed(decimals);
  return (Number(text) === 0 ? text.replace('-', '') : text).replace('-', '−');
}

/** Formats a time, given as ISO 8601 or in ms, as `21:03:07`, with the date if it was not today. */
export function clockText(at: string | number, now = new Date()): string {
  const time = new Date(at);
  const two = (value: number) => String(value).padStart(2, '0');
  const clock = [time.getHours(), time.getMinutes(), time.getSeconds()].map(two).join(':');
  if (time.toDateString() === now.toDateString()) return clock;
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())} ${clock}`;
}

export function gainsText(gains: RememberedStep['gains'] | null | undefined): string {
  return gains == null ? '–' : `${gains.kp} · ${gains.ki} · ${gains.kd}`;
}

export function withUnit(value: number | null, decimals: number, unit: string): string {
  return value === null ? '–' : `${fixed(value, decimals)} ${unit}`;
}

/** Settling time and overshoot of a step, for small print. */
export function figuresText(step: MeasuredStep | undefined): string {
  const { settlingS = null, overshootPercent = null } = step?.figures ?? {};
  return `${milliseconds(settlingS)}, ${percent(overshootPercent)}`;
}

export function percent(value: number | null): string {
  return withUnit(value, 1, '%');
}

export function milliseconds(value: number | null): string {
  return withUnit(value === null ? null : value * 1000, value !== null && value < 0.1 ? 1 : 0, 'ms');
}
