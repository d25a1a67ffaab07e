import type { GainSet } from '../core/units.js';

/** Gains that a controller runs for a while without being saved. */
export interface Trial {
  readonly id: string;
  /** Whose it is: a token's name or an address. */
  readonly by: string;
  readonly gains: GainSet;
  /** Clock milliseconds; renewed by its owner. */
  readonly endsAtMs: number;
}
