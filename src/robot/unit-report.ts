import type { RobotError } from '../core/errors.js';
import type { Torque } from '../core/status.js';
import type { Excitation, Mode } from '../core/units.js';
import type { Identity } from './motor-controller.js';
import type { Trial } from './trial.js';

/** How a unit is, for people and programs. */
export interface UnitReport {
  readonly online: boolean;
  /** As the controller shows it; null until it was heard from. */
  readonly mode: Mode | null;
  readonly faults: readonly string[];
  readonly flags: readonly string[];
  readonly torque: Torque;
  /** The wave of debug mode; null outside debug mode and while offline. */
  readonly excitation: Excitation | null;
  readonly identity: Identity | undefined;
  /** The saved gains are the active ones. */
  readonly applied: boolean;
  readonly trial: Trial | undefined;
  /** Why it is offline. */
  readonly problem: RobotError | undefined;
}
