/**
 * A movement from one extreme to the next that is smaller than this part of the step does not count as a swing.
 */
const SWING = 0.08;
/** A loop that has reached no new extreme for so long does not swing any more. */
const STAY_S = 0.6;
/** A loop that has reached no new extreme for so long when the setpoint moves was standing still. */
const STILL_S = 0.15;
/** Moving on by less than this part of a swing counts as creeping. */
const CREEP = 0.25;
/** A setpoint that changes by more than this part of a swing from sample to sample is moving. */
const FADE = 0.001;
/** How often a swinging loop has turned at least. One that turns once has overshot and come back. */
const TURNS = 2;

/** Says for how long a loop has been swinging since the last edge, round its setpoint or beside it, seen sample by sample. */
export class Ringing {
  readonly #swing: number;
  #setpoint = Number.NaN;
  /** Up is 1, down is -1; 0 until the loop has moved since the last edge. */
  #direction: 1 | -1 | 0 = 0;
  /** The extreme since the loop turned last; before it moves, the value where it began. */
  #extreme = 0;
  /** The value and the time at which it last moved on clearly, because what creeps does not swing. */
  #marked = 0;
  #markedS = 0;
  #turns = 0;
  #firstS = 0;

  /** `step` is the height of the wave's step, in the loop's quantity. */
  constructor(step: number) {
    this.#swing = SWING * step;
  }

  /** Counts from the first extreme to the last; 0 where the loop does not swing. */
  get seconds(): number {
    return this.#turns < TURNS ? 0 : this.#markedS - this.#firstS;
  }

  add(atS: number, setpoint: number, measured: number): void {
    const moved = Math.abs(setpoint - this.#setpoint);
    this.#setpoint = setpoint;
    const stillS = atS - this.#markedS;
    // A loop that stands still while the wave fades does not swing.
    if (stillS > STAY_S || (moved > FADE * this.#swing && stillS > STILL_S)) this.#turns = 0;
    // A loop that follows a fading wave does not swing, so it is seen from its setpoint.
    const deviation = measured - setpoint;
    // Each edge begins a new response.
    if (!(moved <= this.#swing)) {
      this.#turns = 0;
      this.#direction = 0;
      this.#extreme = deviation;
      return;
    }
    const way = deviation - this.#extreme;
    const isFarther = way * this.#direction > 0;
    const isMove = Math.abs(way) > this.#swing;
    if (!isFarther && !isMove) return;
    if (!isFarther && this.#direction !== 0) {
      if (this.#turns === 0) this.#firstS = this.#markedS;
      this.#turns += 1;
    }
    this.#direction = way > 0 ? 1 : -1;
    this.#extreme = deviation;
    if (isFarther && Math.abs(deviation - this.#marked) <= CREEP * this.#swing) return;
    this.#marked = deviation;
    this.#markedS = atS;
  }
}
