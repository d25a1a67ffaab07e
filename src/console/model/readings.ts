import { isObject } from '../../core/json.js';
import type { Pose, Reading, Telemetry } from '../../schemas/telemetry.js';

const TRAIL_POSES = 400;
const TRAIL_STEP_M = 0.03;

export function isReading(value: unknown): value is Reading {
  return isObject(value) && typeof value.setpoint === 'number' && typeof value.measured === 'number';
}

export function isPose(value: unknown): value is Pose {
  return isObject(value) && typeof value.x === 'number' && typeof value.heading === 'number';
}

/** The latest places of the robot. */
export class Trail {
  readonly poses: Pose[] = [];

  take(sample: Telemetry): void {
    const pose = sample.chassis?.pose;
    if (!isPose(pose)) return;
    const last = this.poses.at(-1);
    if (last !== undefined && Math.hypot(pose.x - last.x, pose.y - last.y) < TRAIL_STEP_M) return;
    this.poses.push(pose);
    if (this.poses.length > TRAIL_POSES) this.poses.shift();
  }
}
