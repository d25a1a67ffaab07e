import { perUnit, type Unit } from '../core/units.js';
import { growing, named, nullable, number, type Schema, type TypeOf, yesNo } from './schema.js';

const reading = named(
  'Reading',
  growing({ setpoint: number(), measured: number(), output: number() }),
  "Setpoint and measured value in the loop's quantity, output in its own.",
);

/** The readings of one loop at one moment. */
export type Reading = TypeOf<typeof reading>;

const pose = named(
  'Pose',
  growing({ x: number('m'), y: number('m'), heading: number('rad, from -pi to pi') }),
);

/** The place of the unit on the floor, and its heading. */
export type Pose = TypeOf<typeof pose>;

/** The loops of one unit by name, with `pose` and `target` if the unit has them. */
export type UnitTelemetry = Readonly<Record<string, Reading | Pose | boolean>>;

/** The data of event `telemetry`. */
export const telemetry = named(
  'Telemetry',
  growing({
    t: number('Monotonic seconds.'),
    ...perUnit(unit => nullable(unitTelemetry(unit), 'Null while the controller is offline.')),
  }),
);

export type Telemetry = TypeOf<typeof telemetry>;

function unitTelemetry({ title, loops, hasPose, hasCamera }: Unit): Schema<UnitTelemetry> {
  const members: Record<string, Schema<Reading | Pose | boolean>> = {};
  for (const { name } of loops) members[name] = reading;
  if (hasPose) members.pose = pose;
  if (hasCamera) members.target = yesNo('Whether the camera sees it.');
  return named(`${title}Telemetry`, growing(members));
}
