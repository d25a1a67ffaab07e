import { MODES, type Mode } from './units.js';

/** The phases of a match in their order. `none` means that there is no match. */
export const PHASES = ['none', 'pre', 'auto', 'teleop', 'pause', 'ended'] as const;
export type Phase = (typeof PHASES)[number];

/** In these phases the robot plays, and needs a desk that sends beats. */
export const PLAY: readonly Phase[] = ['auto', 'teleop'];

/** What a phase allows. A phase never starts anything. */
export interface Permissions {
  /** Mode switches and excitation. */
  readonly drive: boolean;
  /** Laser on. Laser off is always allowed. */
  readonly laser: boolean;
  /** Saves and restores of gains, and trials. */
  readonly tune: boolean;
  /** A resume after a stop. It also needs `drive` and the mode `manual`, which the units have after it. */
  readonly resume: boolean;
  /** The allowed modes. A unit in another mode is stopped. */
  readonly modes: readonly Mode[];
}

const AT_REST: Permissions = { drive: false, laser: false, tune: true, resume: false, modes: [] };
const WITHOUT_DEBUG = MODES.filter(mode => mode !== 'debug');
const IN_PLAY: Permissions = { drive: true, laser: true, tune: false, resume: true, modes: WITHOUT_DEBUG };

/** By default nothing moves before and after play, gains do not change during play, and `none` allows everything. */
export const DEFAULT_PERMISSIONS: Readonly<Record<Phase, Permissions>> = {
  none: { drive: true, laser: true, tune: true, resume: true, modes: MODES },
  pre: AT_REST,
  auto: IN_PLAY,
  teleop: IN_PLAY,
  pause: AT_REST,
  ended: AT_REST,
};
