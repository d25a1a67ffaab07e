import { perUnit, type Unit } from '../core/units.js';
import * as s from './schema.js';

const reading = s.answer(
  'Reading',
  { setpoint: s.number(), measured: s.number(), output: s.number() },
  "Setpoint and measured value in the loop's quantity, output in its own.",
);

/** The readings of one loop at one moment. */
export type Reading = s.TypeOf<typeof reading>;

const pose = s.answer('Pose', {
  x: s.number('m'),
  y: s.number('m'),
  heading: s.number('rad, from -pi to pi'),
});

/** The place of the unit on the floor, and its heading. */
export type Pose = s.TypeOf<typeof pose>;

/** The loops of one unit by name, with the time at which they were read. If the unit has them, also `pose` and `target`. */
export type UnitTelemetry = Readonly<Record<string, Reading | Pose | boolean | number>>;

/** The data of event `telemetry`. */
export const telemetry = s.answer('Telemetry', {
  t: s.number('Monotonic seconds at which the newer of the readings was taken.'),
  ...perUnit(unit => s.nullable(unitTelemetry(unit), 'Null while the controller is offline.')),
});

export type Telemetry = s.TypeOf<typeof telemetry>;

function unitTelemetry({ title, loops, hasPose, hasCamera }: Unit): s.Schema<UnitTelemetry> {
  const members: Record<string, s.Schema<Reading | Pose | boolean | number>> = {};
  for (const { name } of loops) members[name] = reading;
  if (hasPose) members.pose = pose;
  if (hasCamera) members.target = s.yesNo('Whether the camera sees it.');
  members.t = s.number('Monotonic seconds at which this unit was read.');
  return s.named(`${title}Telemetry`, s.growing(members));
}
