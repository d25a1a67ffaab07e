import { type UNITS, type UnitName, unitNamed } from '../../src/core/units.js';
import type { LoopReading } from '../firmware/unit-loops.js';

export type LoopNameOf<U extends UnitName> = keyof (typeof UNITS)[U]['loops'];

/** A reading that its loop updates. */
export class Reading implements LoopReading {
  setpoint = 0;
  measured = 0;
  output = 0;

  show(setpoint: number, measured: number, output: number): void {
    this.setpoint = setpoint;
    this.measured = measured;
    this.output = output;
  }
}

/** One reading for every declared loop. Loops that this firmware does not run stay at 0. */
export function readingsOf<U extends UnitName>(unit: U): Record<LoopNameOf<U>, Reading> {
  const readings = unitNamed(unit).loops.map(loop => [loop.name, new Reading()]);
  return Object.fromEntries(readings) as Record<LoopNameOf<U>, Reading>;
}
