import { asRobotError, isRobotError } from '../core/errors.js';
import { perUnit, type UnitName } from '../core/units.js';
import type { DurableLog } from '../events/durable-log.js';
import type { Robot } from '../robot/robot.js';
import type { Trial } from '../robot/wanted-gains.js';
import type { Complaint, Status, TrialStatus, UnitStatus } from '../schemas/status.js';
import type { AppOptions } from './app-options.js';
import { problemOf } from './problems.js';

/** The body of GET /api/status. */
export function statusBody(options: AppOptions, uptimeS: number, streams: number): Status {
  const { robot, access } = options;
  const { problem, ...laser } = robot.laser.report();
  return {
    version: options.version,
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
      exposed: access.state === 'open' && options.isExposed,
      detail: access.problem && complaintOf(access.problem).detail,
    },
    match: options.match.status,
    log: logStatusOf(options.durableLog),
  };
}

function logStatusOf({ problem }: DurableLog): Status['log'] {
  if (problem === undefined) return { ok: true };
  const detail = 'The log of events does not reach the disk.';
  return {
    ok: false,
    detail,
    cure: isRobotError(problem, 'storage-failed') ? problem.context.cure : undefined,
  };
}

function unitStatus(robot: Robot, name: UnitName): UnitStatus {
  const report = robot.units[name].report();
  const { mode, online, faults, flags, torque, guardsTrials, excitation, identity, problem } = report;
  const { revision, savedAt } = robot.store.find(name) ?? { revision: 0, savedAt: null };
  const trial = report.trial && trialStatusOf(report.trial);
  return {
    mode,
    online,
    faults,
    flags,
    torque,
    firmware: identity?.firmware,
    protocol: identity?.protocol,
    guardsTrials,
    excitation,
    gains: { revision, savedAt, applied: report.applied, trial },
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
