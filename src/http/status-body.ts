import type { Access } from '../access/access.js';
import type { AccessStatus } from '../core/access-status.js';
import { asRobotError, isRobotError } from '../core/errors.js';
import type { MatchStatus } from '../core/match-status.js';
import type { Complaint, LaserStatus, Status, TrialStatus, UnitStatus } from '../core/status.js';
import { perUnit, type UnitName } from '../core/units.js';
import type { DurableLog } from '../events/durable-log.js';
import type { Robot } from '../robot/robot.js';
import type { Trial } from '../robot/wanted-gains.js';
import { problemOf } from './problems.js';

/** The body of GET /api/status. */
export function statusBody(
  robot: Robot,
  about: Pick<Status, 'version' | 'uptimeS' | 'streams'> & {
    access: Access;
    isExposed: boolean;
    match: MatchStatus;
    log: DurableLog;
  },
): Status {
  return {
    version: about.version,
    simulated: robot.simulated,
    uptimeS: Math.round(about.uptimeS * 1000) / 1000,
    stopped: robot.stopped,
    laser: laserStatus(robot),
    ...perUnit(({ name }) => unitStatus(robot, name)),
    bus: robot.link.counters,
    storage: robot.store.report(),
    streams: about.streams,
    access: accessStatusOf(about.access, about.isExposed),
    match: about.match,
    log: logStatusOf(about.log),
  };
}

function accessStatusOf({ state, problem }: Access, isExposed: boolean): AccessStatus {
  return {
    state,
    exposed: state === 'open' && isExposed,
    detail: problem && complaintOf(problem).detail,
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

function laserStatus({ laser }: Robot): LaserStatus {
  const { state, light, reason, problem } = laser.report();
  return { state, light, reason, problem: problem && complaintOf(problem) };
}

function unitStatus(robot: Robot, name: UnitName): UnitStatus {
  const report = robot.units[name].report();
  const { revision, savedAt } = robot.store.find(name) ?? { revision: 0, savedAt: null };
  return {
    mode: report.mode,
    online: report.online,
    faults: report.faults,
    flags: report.flags,
    torque: report.torque,
    firmware: report.identity?.firmware,
    protocol: report.identity?.protocol,
    excitation: report.excitation,
    gains: {
      revision,
      savedAt,
      applied: report.applied,
      trial: report.trial && trialStatusOf(report.trial),
    },
    problem: report.problem && complaintOf(report.problem),
  };
}

export function trialStatusOf({ id, by, endsAtMs, gains }: Trial): TrialStatus {
  return { id, by, endsAtT: endsAtMs / 1000, gains };
}

function complaintOf(error: unknown): Complaint {
  const { code, detail } = problemOf(asRobotError(error)).problem;
  return { code, detail };
}
