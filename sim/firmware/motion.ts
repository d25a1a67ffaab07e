import { RobotError } from '../../src/core/errors.js';
import { MAX_HOLD_MS, type Rates, type Unit } from '../../src/core/units.js';

/** The motion that the host asks for: the rates of the axes, and how long they still hold. */
export interface Motion {
  readonly rates: Rates;
  readonly leftMs: number;
}

export const NO_MOTION: Motion = { rates: {}, leftMs: 0 };

/** Limits the rates to those of units.ts. Throws `bad-frame` if the motion would hold too long. */
export function takenMotion({ name, axes }: Unit, values: Readonly<Record<string, number>>): Motion {
  const leftMs = values.hold_ms ?? 0;
  if (leftMs > MAX_HOLD_MS) throw new RobotError('bad-frame', { unit: name, reason: 'hold' });
  const rates = axes.map(({ name: axis, greatestRate }) => {
    const rate = Math.min(greatestRate, Math.max(-greatestRate, values[axis] ?? 0));
    return [axis, rate] as const;
  });
  const isMoving = leftMs > 0 && rates.some(([, rate]) => rate !== 0);
  return isMoving ? { rates: Object.fromEntries(rates), leftMs } : NO_MOTION;
}
