import type { RobotError } from '../core/errors.js';
import type { Mode, Unit } from '../core/units.js';
import type { SavedGains } from '../gains/gains-store.js';
import type { Identity, StepCapture } from './motor-controller.js';

export interface UnitSettings {
  /** Told to the controller with every heartbeat; 0 = it never minds. */
  readonly hostSilenceMs: number;
  /** The mode of a controller that reset itself while we ran. */
  readonly onControllerReset: 'manual' | 'restore';
}

export type UnitIncident = 'online' | 'offline' | 'not found' | 'poll failed' | 'reset' | 'gains applied';

/** What a unit asks and tells the robot it is part of. */
export interface UnitWatch {
  readonly stopped: boolean;
  /** A resume is under way: latches are between two states, and that is right. */
  readonly resuming: boolean;
  /** The controller is latched although nobody here asked for it. */
  foundLatched(unit: Unit): void;
  modeChanged(unit: Unit, before: Mode | null, after: Mode): void;
  gainsChanged(unit: Unit, before: SavedGains, after: SavedGains): void;
  /** `error` says why it went, or why a poll failed. */
  incident(unit: Unit, what: UnitIncident, error?: unknown): void;
  stepCaptured(unit: Unit, capture: StepCapture): void;
}

export interface UnitState {
  readonly online: boolean;
  /** Null until the controller was heard from. */
  readonly mode: Mode | null;
  readonly faults: readonly string[];
  readonly flags: readonly string[];
  readonly identity: Identity | undefined;
  /** The journal's gains are the active ones. */
  readonly applied: boolean;
  /** Why it is offline. */
  readonly problem: RobotError | undefined;
}
