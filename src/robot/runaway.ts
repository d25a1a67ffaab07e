import { perUnit, UNIT_LIST } from '../core/units.js';
import type { Robot } from './robot.js';

/**
 * Ends trials of gains with which a loop runs away from its setpoint, excited or not. A loop that was past its bound when the
 * trial began counts once it has been within: in debug mode a visual loop does not act, wherever the target stands. Returns
 * the act that ends it.
 */
export function endRunawayTrials(robot: Robot): () => void {
  const known = perUnit((): { trial?: string; past: readonly string[] } => ({ past: [] }));
  return robot.polled.add(() => {
    for (const { name, loops } of UNIT_LIST) {
      const unit = robot.units[name];
      const { telemetry } = unit;
      const trial = unit.trial?.id;
      if (trial === undefined || telemetry === undefined) continue;
      const past = loops
        .filter(({ name: loop, runaway }) => {
          const deviation = (telemetry[`${loop}.setpoint`] ?? 0) - (telemetry[`${loop}.measured`] ?? 0);
          return Math.abs(deviation) > runaway;
        })
        .map(loop => loop.name);
      const before = known[name];
      const excused = before.trial === trial ? past.filter(loop => before.past.includes(loop)) : past;
      known[name] = { trial, past: excused };
      if (past.length > excused.length) unit.gains.endTrial('runaway').catch(() => undefined);
    }
  });
}
