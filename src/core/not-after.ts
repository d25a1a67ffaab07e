import { RobotError } from './errors.js';

/** A later time must come from another run of the daemon: each run of a robot starts its time again. */
const MOST_AHEAD_MS = 5000;

/** Throws `too-late` if the caller does not want the request any more. Without `notAfterMs` no request is too late. */
export function requireInTime(notAfterMs: number | undefined, nowMs: number): void {
  if (notAfterMs === undefined) return;
  if (nowMs > notAfterMs || notAfterMs > nowMs + MOST_AHEAD_MS) throw new RobotError('too-late');
}

/** `notAfterT` of a body, in Clock milliseconds. */
export function inMs(notAfterT: number | undefined): number | undefined {
  return notAfterT === undefined ? undefined : 1000 * notAfterT;
}
