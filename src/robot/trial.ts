import type { GainSet } from '../core/units.js';

/** Gains that a controller runs for a while without being saved. */
export interface Trial {
  readonly id: string;
  /** The token's name, or the address, of whoever began it. */
  readonly by: string;
  readonly gains: GainSet;
  /** The end in milliseconds of the clock; its owner can renew it. */
  readonly endsAtMs: number;
}
