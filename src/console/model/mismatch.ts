import type { Tune } from '../../schemas/tune.js';
import { fixed } from './numbers.js';

/** Settling times that differ by less than this are the same, seconds. */
const SAME_S = 0.02;
const FACTOR = 1.4;
/** Overshoots that differ by less than this part of the step are the same. */
const OVERSHOOT_PERCENT = 4;
const FIT_PERCENT = 3;

/** Says what was measured otherwise than the proposal predicted; undefined where both agree. */
export function mismatchOf({ proposed, predicted }: Tune): string | undefined {
  if (proposed === null || predicted === null) return undefined;
  const { settlingS, overshootPercent } = proposed.figures;
  const differences = [
    ...differs(
      settlingS === null || isSame(settlingS, predicted.settlingS),
      `it settles in ${ms(settlingS)} instead of ${ms(predicted.settlingS)}`,
    ),
    ...differs(
      overshootPercent === null ||
        Math.abs(overshootPercent - predicted.overshootPercent) <= OVERSHOOT_PERCENT,
      `it overshoots by ${fixed(overshootPercent, 0)} % instead of ${fixed(predicted.overshootPercent, 0)} %`,
    ),
    ...differs(
      predicted.fitPercent <= FIT_PERCENT,
      `the plant that was found leaves ${fixed(predicted.fitPercent, 0)} % unexplained`,
    ),
  ];
  if (differences.length === 0) return undefined;
  return `Not as predicted: ${differences.join('; ')}. Look for play, a slipping wheel or a loose cable, and trust what was measured.`;
}

const differs = (agrees: boolean, text: string) => (agrees ? [] : [text]);

function isSame(one: number, other: number): boolean {
  return Math.abs(one - other) <= SAME_S || Math.max(one / other, other / one) <= FACTOR;
}

function ms(seconds: number | null): string {
  return `${fixed(seconds === null ? null : seconds * 1000, 0)} ms`;
}
