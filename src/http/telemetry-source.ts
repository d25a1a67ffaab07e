import type { Clock } from '../core/clock.js';
import type { Listeners } from '../core/listeners.js';
import { perUnit, type Unit } from '../core/units.js';
import type { Robot } from '../robot/robot.js';
import type { Telemetry, UnitTelemetry } from '../schemas/telemetry.js';

/** The readings of both units at every poll. */
export function telemetrySource(robot: Robot, clock: Clock): Pick<Listeners<Telemetry>, 'add'> {
  return {
    add: listener => {
      // The first readings may be older than a poll, because an idle robot is polled less often for telemetry.
      let isFirst = true;
      return robot.followed.add(() => {
        if (!isFirst) listener({ t: clock.nowMs() / 1000, ...perUnit(unit => telemetryOf(robot, unit)) });
        isFirst = false;
      });
    },
  };
}

/** Null while the unit is offline. */
function telemetryOf(robot: Robot, { name, hasCamera }: Unit): UnitTelemetry | null {
  const { telemetry, flags } = robot.units[name];
  if (telemetry === undefined) return null;
  const { loops, pose } = telemetry;
  return { ...loops, ...(pose && { pose }), ...(hasCamera && { target: flags.includes('target_visible') }) };
}
