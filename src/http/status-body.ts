import { isRobotError } from '../core/errors.js';
import type { Complaint, LaserStatus, Status, Torque, UnitStatus } from '../core/status.js';
import { perUnit, type UnitName } from '../core/units.js';
import type { Robot } from '../robot/robot.js';
import type { UnitState } from '../robot/unit-watch.js';
import { asRobotError, problemOf } from './problems.js';

/** The body of GET /api/status. */
export function statusBody(
  robot: Robot,
  about: { version: string; uptimeS: number; streams: number },
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
  };
}

function laserStatus({ laser }: Robot): LaserStatus {
  try {
    const state = laser.state();
    return { state, light: state === 'on' ? 'on' : 'dark', reason: laser.reason };
  } catch (error) {
    const light = isRobotError(error, 'laser-unavailable') ? 'unknown' : 'fault';
    return { state: null, light, problem: complaintOf(error) };
  }
}

function unitStatus(robot: Robot, name: UnitName): UnitStatus {
  const { state } = robot.units[name];
  return {
    mode: state.mode,
    online: state.online,
    faults: state.faults,
    flags: state.flags,
    torque: torqueOf(state),
    firmware: state.identity?.firmware,
    protocol: state.identity?.protocol,
    excitation: null,
    gains: { ...savedGains(robot, name), applied: state.applied },
    problem: state.problem && complaintOf(state.problem),
  };
}

function torqueOf({ online, flags }: UnitState): Torque {
  if (!online) return 'unknown';
  return flags.includes('torque') ? 'on' : 'off';
}

function savedGains(robot: Robot, name: UnitName): { revision: number; savedAt: string | null } {
  try {
    const { revision, savedAt } = robot.store.current(name);
    return { revision, savedAt };
  } catch {
    return { revision: 0, savedAt: null };
  }
}

function complaintOf(error: unknown): Complaint {
  const { code, detail } = problemOf(asRobotError(error)).problem;
  return { code, detail };
}
