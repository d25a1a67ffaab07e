import { UNIT_LIST } from '../core/units.js';
import type { Robot } from './robot.js';

/** Ends trials of gains with which a loop runs away from its setpoint, excited or not. Returns the act that ends it. */
export function endRunawayTrials(robot: Robot): () => void {
  return robot.polled.add(() => {
    for (const { name, loops } of UNIT_LIST) {
      const unit = robot.units[name];
      const { telemetry } = unit;
      if (unit.trial === undefined || telemetry === undefined) continue;
      const ranAway = loops.find(loop => {
        const deviation =
          (telemetry[`${loop.name}.setpoint`] ?? 0) - (telemetry[`${loop.name}.measured`] ?? 0);
        return Math.abs(deviation) > loop.runaway;
      });
      if (ranAway !== undefined) void unit.gains.endTrial('runaway');
    }
  });
}
