import type { Unit } from '../core/units.js';
import type { Pose, Reading } from '../schemas/telemetry.js';

/** The content of a unit's telemetry frame. */
export interface Readings {
  /** Keyed by loop name. */
  readonly loops: Readonly<Record<string, Reading>>;
  /** Present only if the unit has a pose. */
  readonly pose?: Pose;
}

/** Decodes the values of the telemetry frame. */
export function readingsOf({ loops, hasPose }: Unit, values: Readonly<Record<string, number>>): Readings {
  const value = (field: string) => values[field] ?? Number.NaN;
  const readings: Record<string, Reading> = {};
  for (const { name } of loops) {
    readings[name] = {
      setpoint: value(`${name}.setpoint`),
      measured: value(`${name}.measured`),
      output: value(`${name}.output`),
    };
  }
  const pose = { x: value('pose.x'), y: value('pose.y'), heading: value('pose.heading') };
  return { loops: readings, ...(hasPose && { pose }) };
}
