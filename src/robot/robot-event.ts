import { isRobotError } from '../core/errors.js';
import type { Excitation, Mode, UnitName } from '../core/units.js';
import type { Step } from '../schemas/step.js';

export type LaserState = 'on' | 'off';

/** Why the laser went dark without being asked. */
export type LaserReason =
  | 'time limit'
  | 'interlock opened'
  | 'stop'
  | 'tuning'
  | 'phase without light'
  | 'pin lost';

export type TrialEnd =
  | 'lease'
  | 'ended'
  | 'stop'
  | 'mode change'
  | 'reset'
  | 'fault'
  | 'target lost'
  | 'saved'
  | 'runaway'
  | 'offline';

/** Why an excitation ended without being asked. */
export type ExcitationEnd = 'stop' | 'reset' | 'offline' | 'no torque' | 'runaway';

/** Why nobody drives a unit any more. `silent`: the last command and a further second have passed. */
export type DriveEnd =
  | 'silent'
  | 'stop'
  | 'mode change'
  | 'resume'
  | 'takeover'
  | 'token removed'
  | 'offline'
  | 'reset'
  | 'end of the daemon';

/** A step response that the controller recorded, in the loop's quantity. Sample 0 is the last one before the edge. */
export type StepCapture = Pick<Step, 'unit' | 'loop' | 'number' | 'rateHz' | 'decimation'> & Step['samples'];

/** A change, with its name and detail in the event log. */
interface Change<What extends string, Detail> {
  readonly what: What;
  readonly detail: Readonly<Detail>;
}

/** Something failed. The log has the whole error, the event only its code. */
interface Failure<What extends string> {
  readonly what: What;
  readonly detail: Readonly<Record<string, string | boolean>>;
  readonly error: unknown;
}

/** A change of one unit. */
export type UnitEvent =
  | Change<'mode', { before: Mode | null; after: Mode }>
  | Change<'excitation', { amplitude: 0; why?: ExcitationEnd } | Excitation>
  /** `before` and `after` are revision numbers. */
  | Change<'save', { before: number; after: number }>
  | Change<'trial', { by: string }>
  | Change<'trial-changed', { by: string; loops: string }>
  | Change<'trial-ended', { by: string; why: TrialEnd }>
  | Change<'drive', { by: string; id: string }>
  | Change<'drive-ended', { by: string; id: string; why: DriveEnd }>
  | Change<'fault' | 'fault-gone', { fault: string }>
  | { readonly what: 'online' | 'reset' | 'gains-applied' }
  | Failure<'offline'>
  /** These events repeat while a controller is unreachable, so the event log does not contain them. */
  | Failure<'not-found' | 'poll-failed' | 'work-failed'>;

/** A change of the robot. */
export type RobotEvent =
  | (UnitEvent & { readonly unit: UnitName })
  | Change<'stop' | 'resume', { why: string }>
  | LaserEvent;

export type LaserEvent =
  | Change<'laser', { before: LaserState; after: LaserState; reason?: LaserReason }>
  /** If the detail has `mayBeLit`, the laser may be lit although it should be dark. */
  | Failure<'laser-failed'>
  | { readonly what: 'laser-works' };

export function failure<What extends string>(what: What, error: unknown, more: object = {}): Failure<What> {
  return { what, detail: { ...(isRobotError(error) && { code: error.code }), ...more }, error };
}
