import { clamped, towards, wrapped } from '../physics/angles.js';
import type { Odometer } from '../physics/odometer.js';
import { courseAt, joinCourse } from './course.js';

const COURSE_MS = 0.5;
const SPEED_UP_MS2 = 1;
const SLOW_DOWN_MS2 = 2;
const TURN_RAD_S = 2;
/** How strongly the distance from the course turns the heading. */
const STEER_RAD_M = 2;
/** The reference waits if the chassis is this far from it. */
const LEASH_M = 0.3;

/** Reference place, speed and heading of the chassis: at rest, or on the course. */
export class ChassisReference {
  readonly #periodS: number;
  /**
   * The place of the chassis. On the course it is the distance along the lap; otherwise the distance from where the
   * mode was entered.
   */
  placeM = 0;
  /** The place where the chassis should be, in metres along its way. */
  aimM = 0;
  speedMS = 0;
  /** It is not wrapped: a full turn adds 2 pi. */
  headingRad = 0;
  /** Distance from the course, to its left. */
  besideM = 0;

  constructor(periodS: number) {
    this.#periodS = periodS;
  }

  /** Starts from the odometer's values, with the chassis moving at `speedMS`. */
  enter(onCourse: boolean, { xM, yM, courseRad, headingRad }: Odometer, speedMS: number): void {
    this.placeM = onCourse ? joinCourse(xM, yM, headingRad) : 0;
    this.aimM = this.placeM;
    this.speedMS = speedMS;
    this.headingRad = courseRad;
  }

  /** Slows the reference down, to rest at the place of the chassis. */
  hold({ wayM }: Odometer): void {
    this.placeM += wayM;
    this.#advance(0, SLOW_DOWN_MS2);
  }

  /** Follows a chassis that something else drives, so that nothing jumps when the reference takes over again. */
  yield({ wayM }: Odometer): void {
    this.placeM += wayM;
    this.aimM = this.placeM;
    this.speedMS = 0;
  }

  /** Drives the course. Turns first if the chassis heads another way. */
  drive({ xM, yM, courseRad }: Odometer): void {
    const point = courseAt(this.placeM);
    const cosine = Math.cos(point.headingRad);
    const sine = Math.sin(point.headingRad);
    this.placeM += (xM - point.xM) * cosine + (yM - point.yM) * sine;
    this.besideM = (yM - point.yM) * cosine - (xM - point.xM) * sine;
    const wantedRad = point.headingRad - Math.atan(STEER_RAD_M * this.besideM);
    const step = TURN_RAD_S * this.#periodS;
    this.headingRad += clamped(wrapped(wantedRad - this.headingRad), -step, step);
    this.#advance(COURSE_MS * Math.max(0, Math.cos(wantedRad - courseRad)), SPEED_UP_MS2);
    this.aimM = clamped(this.aimM, this.placeM - LEASH_M, this.placeM + LEASH_M);
  }

  #advance(speedMS: number, changeMS2: number): void {
    this.speedMS = towards(this.speedMS, speedMS, changeMS2 * this.#periodS);
    this.aimM += this.speedMS * this.#periodS;
  }
}
