import type { Pose, Reading, Telemetry } from '../../core/telemetry.js';

export type { Pose, Telemetry as Sample };

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

export function isReading(value: unknown): value is Reading {
  return isRecord(value) && typeof value.setpoint === 'number' && typeof value.measured === 'number';
}

export function isPose(value: unknown): value is Pose {
  return isRecord(value) && typeof value.x === 'number' && typeof value.heading === 'number';
}
