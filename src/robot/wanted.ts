import type { Excitation, GainSet, Mode } from '../core/units.js';

/** Gains that a controller runs for a limited time without a save. */
export interface Trial {
  readonly id: string;
  /** The name of the token that began the trial. Without tokens, the address. */
  readonly by: string;
  /** Only the tuning itself may change its trial. Otherwise it would judge gains that it never measured. */
  readonly ofTuning?: true;
  readonly gains: GainSet;
  /** The time at which the trial ends (Clock milliseconds). The owner can renew the trial. */
  readonly endsAtMs: number;
}

/** The token of a caller, or the address without tokens, together with the id that the caller chose. */
export interface DriverName {
  readonly by: string;
  readonly id: string;
}

interface Driver extends DriverName {
  /** The time of the driver's first command (Clock milliseconds). */
  readonly sinceMs: number;
  /** The time at which the driver loses the unit without another command. */
  readonly untilMs: number;
  /** Whether a frame of the driver was sent. Without one, nobody needs to know of the driver. */
  readonly hasSent: boolean;
}

/** What is wanted of one unit. `decide` (unit-rules.ts) makes every change. */
export interface Wanted {
  /** Undefined until the first contact. */
  readonly mode: Mode | undefined;
  /**
   * Undefined if no excitation is wanted. `runaway` is the distance from the setpoint at which a trial's guard ends the
   * excitation. If undefined, the loop's own bound applies.
   */
  readonly excitation: (Excitation & { readonly runaway: number | undefined }) | undefined;
  /** `released`: a release was answered 200, and the controller has not confirmed it yet. */
  readonly latch: 'set' | 'released' | 'as it is';
  /** Whether a resume is under way. During a resume the latch is not corrected. */
  readonly isUnderRelease: boolean;
  readonly trial: Trial | undefined;
  /** Counts what would end a trial, even if no trial was running. */
  readonly trialsEnded: number;
  /** Gains of saves that the controller runs already but the disk has not confirmed, newest last. */
  readonly saving: readonly GainSet[];
  /** Undefined while nobody drives. */
  readonly driver: Driver | undefined;
}

export const NOTHING_WANTED: Wanted = {
  mode: undefined,
  excitation: undefined,
  latch: 'as it is',
  isUnderRelease: false,
  trial: undefined,
  trialsEnded: 0,
  saving: [],
  driver: undefined,
};

/** Compares as float32, the precision of controllers. All excitations without amplitude are equal. */
export function isSameExcitation(one: Excitation | undefined, other: Excitation | undefined): boolean {
  const [a, b] = [one?.amplitude ?? 0, other?.amplitude ?? 0].map(Math.fround);
  if (a !== b) return false;
  if (a === 0 || one === undefined || other === undefined) return true;
  return one.loop === other.loop && Math.fround(one.periodS) === Math.fround(other.periodS);
}

export function isSameDriver(one: DriverName, other: DriverName): boolean {
  return one.by === other.by && one.id === other.id;
}

/** Whether a resume is under way or has not reached this controller yet. */
export function isReleasing({ isUnderRelease, latch }: Wanted): boolean {
  return isUnderRelease || latch === 'released';
}
