import { perUnit, UNIT_LIST, type Unit, unitNamed } from '../core/units.js';
import type { Readings } from '../protocol/telemetry.js';
import type { Robot } from './robot.js';

/**
 * Ends trials of gains with which a loop runs away from its setpoint, excited or not. A loop that was past its bound
 * when the trial began is excused until it has been within. Example: in debug mode a visual loop does nothing, and its
 * deviation may stay large.
 */
export function endRunawayTrials(robot: Robot): void {
  const excused = perUnit((): readonly string[] => []);
  robot.events.add(event => {
    if (event.what !== 'trial') return;
    excused[event.unit] = pastBound(unitNamed(event.unit), robot.units[event.unit].telemetry);
  });
  robot.polled.add(() => {
    for (const unit of UNIT_LIST) {
      const { trial, telemetry, gains } = robot.units[unit.name];
      if (trial === undefined || telemetry === undefined) continue;
      const past = pastBound(unit, telemetry);
      const known = excused[unit.name].filter(loop => past.includes(loop));
      excused[unit.name] = known;
      if (past.length > known.length) gains.endTrial('runaway').catch(() => undefined);
    }
  });
}

/** The loops that are further from their setpoint than their bound. */
function pastBound({ loops }: Unit, telemetry: Readings | undefined): readonly string[] {
  const past = loops.filter(({ name, runaway }) => {
    const { setpoint = 0, measured = 0 } = telemetry?.loops[name] ?? {};
    return Math.abs(setpoint - measured) > runaway;
  });
  return past.map(({ name }) => name);
}
