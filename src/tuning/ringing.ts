/**
 * A movement between two extremes counts as an oscillation if it is larger than this fraction of the step.
 */
const SWING = 0.08;
/** A loop without a new extreme for this time no longer oscillates. */
const STAY_S = 0.6;
/** A loop without a new extreme for this time was at rest when the setpoint began to move. */
const STILL_S = 0.15;
/** A movement of less than this fraction of a swing counts as creeping. */
const CREEP = 0.25;
/** A setpoint moves if it changes by more than this fraction of a swing between two samples. */
const FADE = 0.001;
/** An oscillating loop has turned at least this often. A loop that turned once has overshot and come back. */
const TURNS = 2;

/** Measures sample by sample how long a loop has oscillated since the last edge, around its setpoint or beside it. */
export class Ringing {
  readonly #swing: number;
  #setpoint = Number.NaN;
  /** The direction in which the loop moves: 1 up, -1 down, 0 until it has moved since the last edge. */
  #direction: 1 | -1 | 0 = 0;
  /**
   * Measured value minus setpoint, at the extreme since the last turn, or at the edge if there was no turn.
   */
  #extreme = 0;
  /** The last extreme that was more than creeping, and its time. */
  #marked = 0;
  #markedS = 0;
  #turns = 0;
  #firstS = 0;

  /** `step` is the height of the excitation's step, in the loop's unit. */
  constructor(step: number) {
    this.#swing = SWING * step;
  }

  /** The seconds from the first extreme to the last. 0 if the loop does not oscillate. */
  get seconds(): number {
    return this.#turns < TURNS ? 0 : this.#markedS - this.#firstS;
  }

  add(atS: number, setpoint: number, measured: number): void {
    const moved = Math.abs(setpoint - this.#setpoint);
    this.#setpoint = setpoint;
    const stillS = atS - this.#markedS;
    // A loop at rest does not count as oscillating while the excitation fades.
    if (stillS > STAY_S || (moved > FADE * this.#swing && stillS > STILL_S)) this.#turns = 0;
    // The setpoint is subtracted, because a loop that follows a fading excitation does not oscillate.
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
