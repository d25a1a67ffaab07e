import type { Excitation, Mode, UnitName } from '../core/units.js';
import type { SavedGains } from '../gains/gains-store.js';
import type { LaserReason, LaserState } from './laser.js';

export type TrialEnd =
  | 'lease'
  | 'ended'
  | 'stop'
  | 'mode change'
  | 'reset'
  | 'fault'
  | 'target lost'
  | 'saved'
  | 'runaway'
  | 'offline';

/** A change of one unit. */
export type UnitEvent =
  | { readonly what: 'mode'; readonly before: Mode | null; readonly after: Mode }
  | { readonly what: 'excitation'; readonly after: Excitation | null }
  | { readonly what: 'gains'; readonly before: SavedGains; readonly after: SavedGains }
  | { readonly what: 'trial'; readonly by: string; readonly ended?: TrialEnd }
  | { readonly what: 'trial changed'; readonly by: string; readonly loops: readonly string[] }
  | { readonly what: 'faults'; readonly appeared: readonly string[]; readonly gone: readonly string[] }
  | { readonly what: 'online' | 'reset' | 'gains applied' }
  /** `error` says why. */
  | { readonly what: 'offline' | 'not found' | 'poll failed'; readonly error: unknown };

/** A change of the robot. */
export type RobotEvent =
  | (UnitEvent & { readonly unit: UnitName })
  | { readonly what: 'stopped'; readonly after: boolean; readonly why: string }
  | {
      readonly what: 'laser';
      readonly before: LaserState;
      readonly after: LaserState;
      readonly reason: LaserReason | undefined;
    }
  /** What the laser calls `onFault` with. */
  | { readonly what: 'laser fault'; readonly error: unknown; readonly mayBeLit: boolean };
