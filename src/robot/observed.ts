import type { RobotError } from '../core/errors.js';
import type { Excitation, Mode } from '../core/units.js';
import type { Readings } from '../protocol/telemetry.js';
import type { Build } from '../schemas/status.js';
import type { ControllerStatus, GuardedExcitation, Identity } from './motor-controller.js';

/** Readings, and when they arrived (Clock milliseconds). */
export interface TimedReadings extends Readings {
  readonly atMs: number;
}

/** What one controller showed last. */
export class Observed {
  online = false;
  /** The controller's identity. Undefined until a controller of the right kind has answered. */
  identity: Identity | undefined;
  /**
   * Undefined until it is read after the daemon has adopted the controller. Meaningful only while the controller has
   * the flag `build`.
   */
  build: Build | undefined;
  /** Why the unit is offline. */
  problem: RobotError | undefined;
  /** The latest readings. Undefined while offline. */
  telemetry: TimedReadings | undefined;
  /** Undefined until the first contact. */
  status: ControllerStatus | undefined;
  /** When the status first showed the gains that it shows now (Clock milliseconds). */
  gainsSinceMs = Number.POSITIVE_INFINITY;
  /** The excitation in the controller's register. It is in force in debug mode only. */
  excitation: Excitation | undefined;
  /** The guard that was last read from the controller. Undefined while a frame in flight may change it. */
  guard: number | undefined;

  get mode(): Mode | null {
    return this.status?.mode ?? null;
  }

  /** The flags of the last status; none while offline. */
  get flags(): readonly string[] {
    return (this.online && this.status?.flags) || [];
  }

  /** Undefined until the first contact. */
  has(flag: ControllerStatus['flags'][number]): boolean | undefined {
    return this.status?.flags.includes(flag);
  }

  /** Takes in the controller's excitation. */
  show({ deviation, ...excitation }: GuardedExcitation): Excitation {
    this.excitation = excitation;
    this.guard = deviation;
    return excitation;
  }
}
