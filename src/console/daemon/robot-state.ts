import { isObject } from '../../core/json.js';
import type { Pose, Reading, Telemetry } from '../../schemas/telemetry.js';

export type { Pose, Telemetry as Sample };

export function isReading(value: unknown): value is Reading {
  return isObject(value) && typeof value.setpoint === 'number' && typeof value.measured === 'number';
}

export function isPose(value: unknown): value is Pose {
  return isObject(value) && typeof value.x === 'number' && typeof value.heading === 'number';
}
