import type { Complaint } from '../core/status.js';
import type { Step } from '../core/step.js';
import type { Pose, Reading, Telemetry, UnitTelemetry } from '../core/telemetry.js';

export type { LaserStatus, Status, StorageStatus, UnitStatus } from '../core/status.js';
export type { Pose, Reading, Step, Telemetry as Sample, UnitTelemetry as UnitSample };

/** What the page shows of anything that is wrong. */
export interface Told extends Complaint {
  readonly cure?: string;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

export function isReading(value: unknown): value is Reading {
  return isRecord(value) && typeof value.setpoint === 'number' && typeof value.measured === 'number';
}

export function isPose(value: unknown): value is Pose {
  return isRecord(value) && typeof value.x === 'number' && typeof value.heading === 'number';
}
