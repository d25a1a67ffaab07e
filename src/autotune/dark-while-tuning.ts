import { RobotError } from '../core/errors.js';
import type { Permission } from '../robot/request-gate.js';

/** Forbids laser on while a loop is tuned. */
export function darkWhileTuning(isTuning: () => boolean, permission: Permission): Permission {
  return {
    require: act => {
      permission.require(act);
      if (act.kind === 'light' && isTuning()) throw new RobotError('tune-running');
    },
  };
}
