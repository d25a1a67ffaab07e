import { DEFAULT_PERMISSIONS } from '../../src/core/phases.js';
import type { MatchStatus } from '../../src/schemas/match.js';
import type { Status, UnitStatus } from '../../src/schemas/status.js';

export const UNIT_STATUS: UnitStatus = {
  mode: 'manual',
  online: true,
  faults: [],
  flags: [],
  torque: 'on',
  excitation: null,
  gains: { revision: 1, savedAt: null, applied: true },
};

export const NO_MATCH_STATUS: MatchStatus = {
  id: null,
  revision: 0,
  phase: 'none',
  endsAtT: null,
  lock: null,
  lease: null,
  refereeSilent: false,
  allows: DEFAULT_PERMISSIONS.none,
  recorded: true,
};

/** The status of a robot without faults, with the changes that a test needs. */
export function statusWith(changes: Partial<Status> = {}): Status {
  return {
    id: '0123456789abcdef',
    version: '1',
    simulated: true,
    uptimeS: 1,
    stopped: false,
    laser: { state: 'off', light: 'dark' },
    gimbal: UNIT_STATUS,
    chassis: UNIT_STATUS,
    bus: { transactions: 0, retries: 0, errors: {} },
    storage: { ok: true, setAside: [] },
    streams: 1,
    access: { state: 'open', exposed: false },
    match: NO_MATCH_STATUS,
    log: { ok: true },
    ...changes,
  };
}
