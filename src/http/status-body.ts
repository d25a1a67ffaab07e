import { perUnit, type UnitName } from '../core/units.js';
import type { Robot } from '../robot/robot.js';
import type { UnitState } from '../robot/unit-watch.js';
import { asRobotError, problemOf } from './problems.js';

/** The body of GET /api/status. */
export function statusBody(
  robot: Robot,
  about: { version: string; uptimeS: number },
): Record<string, unknown> {
  return {
    version: about.version,
    simulated: robot.simulated,
    uptimeS: Math.round(about.uptimeS * 1000) / 1000,
    stopped: robot.stopped,
    laser: laser(robot),
    ...perUnit(({ name }) => unit(robot, name, robot.units[name].state)),
    bus: robot.link.counters,
    storage: robot.store.report(),
  };
}

function laser(robot: Robot): Record<string, unknown> {
  const { reason } = robot.laser;
  try {
    return { state: robot.laser.state(), ...(reason !== undefined && { reason }) };
  } catch (error) {
    return { state: null, problem: told(error) };
  }
}

function unit(robot: Robot, name: UnitName, state: UnitState): Record<string, unknown> {
  return {
    mode: state.mode,
    online: state.online,
    faults: state.faults,
    flags: state.flags,
    ...state.identity,
    gains: { ...saved(robot, name), applied: state.applied },
    ...(state.problem !== undefined && { problem: told(state.problem) }),
  };
}

function saved(robot: Robot, name: UnitName): Record<string, unknown> {
  try {
    const { revision, savedAt } = robot.store.current(name);
    return { revision, savedAt };
  } catch {
    return { revision: 0, savedAt: null };
  }
}

function told(error: unknown): Record<string, unknown> {
  const { code, detail } = problemOf(asRobotError(error)).problem;
  return { code, detail };
}
