import { type UnitName, unitNamed } from '../../src/core/units.js';

/** A set of gains that differs from the set of the previous turn. */
export function gainsBody(unit: UnitName, turn: number): Record<string, unknown> {
  const triple = { kp: 1 + (turn % 1000) / 1000, ki: 0.25, kd: 0.05 };
  return Object.fromEntries(unitNamed(unit).loops.map(({ name }) => [name, triple]));
}
