import { perUnit, UNIT_LIST } from '../core/units.js';
import type { Robot } from './robot.js';

interface Known {
  readonly trial?: string;
  /** The newest readings when the trial began. */
  readonly before?: Readonly<Record<string, number>>;
  /** The loops that have been past their bound ever since it began. */
  readonly past?: readonly string[];
}

/**
 * Ends trials of gains with which a loop runs away from its setpoint, excited or not. A loop that was past its bound when the
 * trial began counts once it has been within: in debug mode a visual loop does not act, wherever the target stands. Returns
 * the act that ends it.
 */
export function endRunawayTrials(robot: Robot): () => void {
  const known = perUnit((): Known => ({}));
  return robot.polled.add(() => {
    for (const { name, loops } of UNIT_LIST) {
      const unit = robot.units[name];
      const { telemetry } = unit;
      const trial = unit.trial?.id;
      if (trial === undefined || telemetry === undefined) continue;
      if (known[name].trial !== trial) known[name] = { trial, before: telemetry };
      // These were taken before the trial, maybe for a while.
      if (known[name].before === telemetry) continue;
      const past = loops
        .filter(({ name: loop, runaway }) => {
          const deviation = (telemetry[`${loop}.setpoint`] ?? 0) - (telemetry[`${loop}.measured`] ?? 0);
          return Math.abs(deviation) > runaway;
        })
        .map(loop => loop.name);
      const { past: pastBefore = past } = known[name];
      const excused = past.filter(loop => pastBefore.includes(loop));
      known[name] = { trial, past: excused };
      if (past.length > excused.length) unit.gains.endTrial('runaway').catch(() => undefined);
    }
  });
}
