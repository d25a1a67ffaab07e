import type { GainsStore } from '../gains/gains-store.js';
import type { Link } from '../protocol/link.js';
import type { HostSilence } from './host-silence.js';
import type { MotorController } from './motor-controller.js';
import type { GateParts, RequestGate } from './request-gate.js';
import type { UnitEvent } from './robot-event.js';
import type { StepCapture } from './step-capture.js';

/** What the classes that make up one unit share. */
export interface UnitParts extends GateParts {
  readonly link: Link;
  readonly store: GainsStore;
  readonly silence: HostSilence;
  readonly controller: MotorController;
  readonly gate: RequestGate;
  readonly emit: (event: UnitEvent) => void;
  /** Whether anyone wants the readings of every poll. */
  readonly isFollowed: () => boolean;
  /** Called when the controller has latched by itself. */
  readonly foundLatched: () => void;
  readonly stepCaptured: (capture: StepCapture) => void;
}
