import { clamped, towards } from '../physics/angles.js';

/** A moving setpoint stays this close to the measured value, in m or rad. A blocked axis therefore stores no way. */
const LEASH = 0.25;

/** The rate of a setpoint. It changes by a limited step in each loop period. */
export class MovedSetpoint {
  readonly #periodS: number;
  readonly #step: number;
  rate = 0;
  /** Whether a motion moves the setpoint, or moved it and still slows down. */
  #isMoved = false;
  /** Whether an obstacle holds the axis back. */
  isBlocked = false;

  /** `change`: the acceleration, in m/s² or rad/s². */
  constructor(periodS: number, change: number) {
    this.#periodS = periodS;
    this.#step = change * periodS;
  }

  /** Forgets the motion. A rate that is not 0 slows down. */
  start(rate: number): void {
    this.rate = rate;
    this.#isMoved = false;
    this.isBlocked = false;
  }

  /**
   * Runs one loop period at the rate that a motion asks for. Returns the next setpoint. When a motion has slowed down,
   * the setpoint is the measured value. An axis that is held back has nothing to slow down, so its motion ends at once,
   * and `onBlockedEnd` is called.
   */
  next(setpoint: number, measured: number, wanted: number, onBlockedEnd: () => void): number {
    if (wanted !== 0) this.#isMoved = true;
    this.rate = towards(this.rate, wanted, this.#step);
    // What rounding leaves of the rate must not cost a further period.
    if (wanted === 0 && Math.abs(this.rate) < this.#step / 4) this.rate = 0;
    const next = setpoint + this.rate * this.#periodS;
    if (!this.#isMoved) return next;
    if (wanted === 0 && (this.rate === 0 || this.isBlocked)) {
      if (this.isBlocked) onBlockedEnd();
      this.start(0);
      return measured;
    }
    const near = clamped(next, measured - LEASH, measured + LEASH);
    this.isBlocked = near !== next;
    return near;
  }
}
