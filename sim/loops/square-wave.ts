import type { Excitation } from '../../src/core/units.js';
import { towards } from '../physics/angles.js';

/** How long the setpoint takes to come back from a wave that ended. */
const FADE_S = 1;

/** The excitation of debug mode. It begins with its positive half; amplitude and period count from the next edge on. */
export class SquareWave {
  readonly #periodS: number;
  #value = 0;
  #edges = 0;
  /** Seconds since the last edge; undefined while there is no wave. */
  #sinceS: number | undefined;
  #halfS = 0;
  #height = 0;

  /** `periodS` is the loop's, not the wave's. */
  constructor(periodS: number) {
    this.#periodS = periodS;
  }

  get value(): number {
    return this.#value;
  }

  get edges(): number {
    return this.#edges;
  }

  /** One loop period, with or without a wave. One that ended fades. */
  tick(wave: Excitation | undefined): void {
    if (wave === undefined || wave.amplitude === 0) {
      this.#sinceS = undefined;
      this.#value = towards(this.#value, 0, (this.#height * this.#periodS) / FADE_S);
      return;
    }
    const { amplitude, periodS } = wave;
    if (this.#sinceS === undefined) {
      this.#edge(amplitude, periodS);
      return;
    }
    this.#sinceS += this.#periodS;
    // Half a loop period is slack for the rounding of the sum.
    if (this.#sinceS >= this.#halfS - this.#periodS / 2) {
      this.#edge(this.#value > 0 ? -amplitude : amplitude, periodS);
    }
  }

  /** Ends the wave at once, without fading. */
  end(): void {
    this.#sinceS = undefined;
    this.#value = 0;
  }

  #edge(value: number, periodS: number): void {
    this.#value = value;
    this.#height = Math.abs(value);
    this.#edges += 1;
    this.#sinceS = 0;
    this.#halfS = periodS / 2;
  }
}
