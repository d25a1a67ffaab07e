/** A swing smaller than this part of the step is none. */
const SWING = 0.04;
/** A loop does not swing any more that stays within the band for REST_S, or on one side of it for STAY_S. */
const REST_S = 0.15;
const STAY_S = 0.45;
/** Three turns are one and a half periods; fewer are an overshoot that comes back. */
const TURNS = 3;

/** Says for how long a loop has been swinging round its setpoint, seen sample by sample while it does. */
export class Ringing {
  readonly #band: number;
  #setpoint: number | undefined;
  /** The side of the setpoint on which the loop was last seen beyond the band. */
  #side = 0;
  #outsideS = 0;
  /** Counts passages from one side to the other since it last stood still. */
  #turns = 0;
  #firstS = 0;
  #lastS = 0;

  /** `step` is the height of the wave's step, in the loop's quantity. */
  constructor(step: number) {
    this.#band = SWING * step;
  }

  /** Counts from the first passage through the setpoint to where it was last seen beyond the band; 0 where it does not swing. */
  get seconds(): number {
    return this.#turns < TURNS ? 0 : this.#outsideS - this.#firstS;
  }

  add(atS: number, setpoint: number, measured: number): void {
    const deviation = measured - setpoint;
    const isOutside = Math.abs(deviation) > this.#band;
    if (isOutside) this.#outsideS = atS;
    if (atS - this.#outsideS > REST_S || atS - this.#lastS > STAY_S) this.#turns = 0;
    // An edge of the wave puts the loop on a side without its own doing.
    const isEdge = this.#setpoint !== undefined && Math.abs(setpoint - this.#setpoint) > this.#band;
    this.#setpoint = setpoint;
    const side = isOutside ? Math.sign(deviation) : this.#side;
    if (side !== this.#side && this.#side !== 0 && !isEdge) {
      if (this.#turns === 0) this.#firstS = atS;
      this.#turns += 1;
      this.#lastS = atS;
    }
    this.#side = side;
  }
}
