import type { Clock } from '../core/clock.js';
import type { Unit } from '../core/units.js';
import type { GainsStore } from '../gains/gains-store.js';
import type { Link } from '../protocol/link.js';
import type { HostSilence } from './host-silence.js';
import type { MotorController } from './motor-controller.js';
import type { Permission } from './permission.js';
import type { UnitEvent } from './robot-event.js';
import type { StepCapture } from './step-capture.js';
import type { UnitState } from './unit-state.js';

/** What the classes that make up one unit share. */
export interface UnitParts {
  readonly unit: Unit;
  readonly link: Link;
  readonly clock: Clock;
  readonly store: GainsStore;
  readonly permission: Permission;
  readonly silence: HostSilence;
  readonly state: UnitState;
  readonly controller: MotorController;
  readonly emit: (event: UnitEvent) => void;
  /** Whether anyone wants the readings of every poll. */
  readonly isFollowed: () => boolean;
  /** Called when the controller has latched by itself. */
  readonly foundLatched: () => void;
  readonly stepCaptured: (capture: StepCapture) => void;
}
