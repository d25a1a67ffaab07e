import { RobotError } from '../core/errors.js';
import type { DeskState } from './state.js';

/** A press of a caller. */
export interface Press {
  readonly id: string;
  readonly by: string;
  readonly nowMs: number;
  /** Wall time, for names of records. */
  readonly at: Date;
}

/** The body of a press on a tile. */
export interface OfRobot {
  readonly robot: string;
}

/** Phases in which no robot plays. */
export const OVER: readonly string[] = ['none', 'ended', 'pre'];

export function refuse(reason: string): never {
  throw new RobotError('not-ready', { reason });
}

export function requireRobot(state: DeskState, name: string): void {
  if (!state.robots.some(robot => robot.name === name))
    throw new RobotError('not-found', { cure: `No robot is called ${name}.` });
}

/** After a loss of its state the desk permits nothing. */
export function requirePermits({ wanted }: DeskState): void {
  if (!wanted.permits) refuse('The desk has lost its state. Look at the field, then press Take over.');
}
