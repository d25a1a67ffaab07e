import type { Unit } from '../../src/core/units.js';
import type { UnitLoops } from './unit-loops.js';

/** The readings of the loops, by the names of the fields of the telemetry frame. */
export function telemetryOf(unit: Unit, { readings, pose }: UnitLoops): Record<string, number> {
  const values: Record<string, number> = {};
  for (const { name } of unit.loops) {
    const { setpoint = 0, measured = 0, output = 0 } = readings[name] ?? {};
    values[`${name}.setpoint`] = setpoint;
    values[`${name}.measured`] = measured;
    values[`${name}.output`] = output;
  }
  if (pose === undefined) return values;
  return { ...values, 'pose.x': pose.xM, 'pose.y': pose.yM, 'pose.heading': pose.headingRad };
}
