import type { Pose } from '../firmware/unit-loops.js';
import { wrapped } from './angles.js';
import type { ChassisState } from './chassis-mechanics.js';
import { encoded } from './dc-motor.js';
import type { RobotBody } from './robot-body.js';

/** The resolution of the heading sensor, an integrated gyroscope without drift. */
const HEADING_RAD = 1e-4;
const SPEED_FILTER_S = 0.005;

/**
 * The motion of the chassis, as its firmware computes it from wheel encoders and heading sensor. Place and heading count
 * from the first call of `sense`. A slipping wheel makes the place wrong.
 */
export class Odometer implements Pose {
  readonly #periodS: number;
  readonly #body: RobotBody;
  xM = 0;
  yM = 0;
  /** It is not wrapped: a full turn adds 2 pi. */
  courseRad = 0;
  speedMS = 0;
  /** The distance covered in the last loop period, in metres. */
  wayM = 0;
  #travelledM: number | undefined;
  #startRad = 0;

  constructor(periodS: number, body: RobotBody) {
    this.#body = body;
    this.#periodS = periodS;
  }

  get headingRad(): number {
    return wrapped(this.courseRad);
  }

  sense(state: ChassisState): void {
    const counts = this.#body.encoderCountsPerTurn.wheel;
    const left = encoded(state.left.angleRad, counts);
    const right = encoded(state.right.angleRad, counts);
    const travelledM = (this.#body.chassis.wheelRadiusM * (left + right)) / 2;
    if (this.#travelledM === undefined) this.#startRad = state.headingRad;
    this.wayM = travelledM - (this.#travelledM ?? travelledM);
    this.#travelledM = travelledM;
    const smoothing = this.#periodS / (SPEED_FILTER_S + this.#periodS);
    this.speedMS += smoothing * (this.wayM / this.#periodS - this.speedMS);
    this.courseRad = Math.round((state.headingRad - this.#startRad) / HEADING_RAD) * HEADING_RAD;
    this.xM += this.wayM * Math.cos(this.courseRad);
    this.yM += this.wayM * Math.sin(this.courseRad);
  }
}
