import { isRobotError } from '../core/errors.js';
import type { RobotEvent } from '../robot/robot-event.js';
import type { Happening } from '../schemas/log.js';

/** The events that the log records for a change on the robot, whoever caused it. */
export function happeningsOf(event: RobotEvent): readonly Happening[] {
  switch (event.what) {
    case 'mode':
      return [{ what: 'mode', unit: event.unit, detail: { before: event.before, after: event.after } }];
    case 'gains':
      return [
        {
          what: 'save',
          unit: event.unit,
          detail: { before: event.before.revision, after: event.after.revision },
        },
      ];
    case 'excitation':
      return [
        {
          what: 'excitation',
          unit: event.unit,
          detail: event.after === null ? { amplitude: 0 } : { ...event.after },
        },
      ];
    case 'trial': {
      const { unit, by, ended } = event;
      return [
        ended === undefined
          ? { what: 'trial', unit, detail: { by } }
          : { what: 'trial-ended', unit, detail: { by, why: ended } },
      ];
    }
    case 'trial changed': {
      const { unit, by, loops } = event;
      return [{ what: 'trial-changed', unit, detail: { by, loops: loops.join(', ') } }];
    }
    case 'faults':
      return [
        ...event.appeared.map(fault => ({ what: 'fault', unit: event.unit, detail: { fault } })),
        ...event.gone.map(fault => ({ what: 'fault-gone', unit: event.unit, detail: { fault } })),
      ];
    case 'stopped':
      return [{ what: event.after ? 'stop' : 'resume', detail: { why: event.why } }];
    case 'laser': {
      const { before, after, reason } = event;
      return [
        { what: 'laser', detail: reason === undefined ? { before, after } : { before, after, reason } },
      ];
    }
    case 'laser fault':
      return [
        event.error === undefined
          ? { what: 'laser-works' }
          : { what: 'laser-failed', ...causeOf(event.error) },
      ];
    case 'online':
    case 'reset':
      return [{ what: event.what, unit: event.unit }];
    case 'gains applied':
      return [{ what: 'gains-applied', unit: event.unit }];
    case 'offline':
      return [{ what: 'offline', unit: event.unit, ...causeOf(event.error) }];
    // These come again and again while a controller is away, and say nothing new.
    case 'not found':
    case 'poll failed':
      return [];
  }
}

function causeOf(error: unknown): Pick<Happening, 'detail'> {
  return isRobotError(error) ? { detail: { code: error.code } } : {};
}
