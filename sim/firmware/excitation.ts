import { RobotError } from '../../src/core/errors.js';
import { EXCITATION_PERIOD_S, type Loop, type Unit } from '../../src/core/units.js';

/** The excitation that the host asks for. */
export interface ExcitedLoop {
  readonly loop: Loop;
  readonly amplitude: number;
  readonly periodS: number;
  /** The guard: largest difference of setpoint and measured value; 0 = no limit. */
  readonly deviation: number;
}

export function noExcitation({ name, loops: [loop] }: Unit): ExcitedLoop {
  if (loop === undefined) throw new TypeError(`the ${name} has no loops`);
  return { loop, amplitude: 0, periodS: EXCITATION_PERIOD_S.default, deviation: 0 };
}

/** Throws `bad-frame` beyond the limits of units.ts. Compares as float32, because a frame contains float32. */
export function takenExcitation(
  unit: Unit,
  { slot = 0, amplitude = 0, period_s: periodS = 0, deviation = 0 }: Readonly<Record<string, number>>,
): ExcitedLoop {
  const loop = unit.loops.find(candidate => candidate.slot === slot);
  const { min, max } = EXCITATION_PERIOD_S;
  const refusal = (reason: string) => new RobotError('bad-frame', { unit: unit.name, slot, reason });
  if (loop === undefined) throw refusal('no such loop');
  if (amplitude < 0 || amplitude > Math.fround(loop.maxAmplitude)) throw refusal('amplitude');
  if (periodS < Math.fround(min) || periodS > Math.fround(max)) throw refusal('period');
  if (deviation < 0) throw refusal('deviation');
  return { loop, amplitude, periodS, deviation };
}
