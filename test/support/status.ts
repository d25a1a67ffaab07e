import type { Status, UnitStatus } from '../../src/core/status.js';

export const UNIT_STATUS: UnitStatus = {
  mode: 'manual',
  online: true,
  faults: [],
  flags: [],
  torque: 'on',
  excitation: null,
  gains: { revision: 1, savedAt: null, applied: true },
};

/** Of a robot that is well, with what a test wants otherwise. */
export function statusWith(changes: Partial<Status> = {}): Status {
  return {
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
    ...changes,
  };
}
