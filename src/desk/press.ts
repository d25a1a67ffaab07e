import { RobotError } from '../core/errors.js';
import * as s from '../schemas/schema.js';
import type { DeskState, Permit } from './state.js';

/** A press of a caller. */
export interface Press {
  readonly id: string;
  readonly by: string;
  readonly nowMs: number;
  /** Ends at most a second after the press, however slow its way to the desk was. */
  readonly permit: Permit;
  /** Wall time, for names of records. */
  readonly at: Date;
}

type Members = Readonly<Record<string, s.Schema>>;
export type BodyOf<M extends Members> = s.TypeOf<ReturnType<typeof s.object<M>>>;

/** A button: the members of the body of its press, and what the press does. `act` throws why it is refused. */
export interface Button<Body> {
  readonly members: Members;
  readonly act: (state: DeskState, press: Press, body: Body) => void;
}

export function button<M extends Members>(members: M, act: Button<BodyOf<M>>['act']): Button<BodyOf<M>> {
  return { members, act };
}

/** The member of a press on a tile. */
export const ofRobot = { robot: s.name(64) };

export function refuse(reason: string): never {
  throw new RobotError('not-ready', { reason });
}

export function requireRobot(state: DeskState, name: string): void {
  if (!state.robots.some(robot => robot.name === name))
    throw new RobotError('not-found', { cure: `No robot is called ${name}.` });
}

/** After a loss of its state or its tokens the desk permits nothing. */
export function requirePermits({ wanted }: DeskState): void {
  if (!wanted.permits)
    refuse('The desk has lost its state or its list of tokens. Look at the field, then press Take over.');
}
