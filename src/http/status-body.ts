import { isLoopback } from '../access/board.js';
import { asRobotError } from '../core/errors.js';
import { perUnit, type UnitName } from '../core/units.js';
import { version } from '../core/version.js';
import type { Robot } from '../robot/robot.js';
import type { Trial } from '../robot/wanted.js';
import type { Complaint, Status, TrialStatus, UnitStatus } from '../schemas/status.js';
import type { AppOptions } from './app-options.js';
import { problemOf } from './problems.js';

/** The body of GET /api/status. */
export function statusBody(options: AppOptions, uptimeS: number, streams: number): Status {
  const { robot, access } = options;
  const { problem, ...laser } = robot.laser.report();
  const { problem: unlogged } = options.fileLog;
  return {
    id: options.robotId(),
    version,
    simulated: robot.simulated,
    uptimeS: Math.round(uptimeS * 1000) / 1000,
    stopped: robot.stopped,
    laser: { ...laser, problem: problem && complaintOf(problem) },
    ...perUnit(({ name }) => unitStatus(robot, name)),
    bus: robot.link.counters,
    storage: robot.store.report(),
    streams,
    access: {
      state: access.state,
      exposed: access.state === 'open' && !isLoopback(options.config.http.host),
      detail: access.problem && complaintOf(access.problem).detail,
    },
    match: options.match.status,
    log: {
      ok: unlogged === undefined,
      detail: unlogged && 'The log of events does not reach the disk.',
      cure: unlogged?.context.cure,
    },
  };
}

function unitStatus(robot: Robot, name: UnitName): UnitStatus {
  const { applied, identity, problem, trial, driver, ...shown } = robot.units[name].report();
  const { revision, savedAt, profile } = robot.store.find(name) ?? { revision: 0, savedAt: null };
  return {
    ...shown,
    firmware: identity?.firmware,
    protocol: identity?.protocol,
    gains: { revision, savedAt, profile, applied, trial: trial && trialStatusOf(trial) },
    driver: driver && { by: driver.by, id: driver.id, sinceT: driver.sinceMs / 1000 },
    problem: problem && complaintOf(problem),
  };
}

export function trialStatusOf({ id, by, endsAtMs, gains }: Trial): TrialStatus {
  return { id, by, endsAtT: endsAtMs / 1000, gains };
}

function complaintOf(error: unknown): Complaint {
  const { code, detail } = problemOf(asRobotError(error)).problem;
  return { code, detail };
}
