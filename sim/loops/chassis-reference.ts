import type { Rates } from '../../src/core/units.js';
import { clamped, towards, wrapped } from '../physics/angles.js';
import type { Odometer } from '../physics/odometer.js';
import { CourseSearch, courseAt, LAP_M } from './course.js';
import { MovedSetpoint } from './moved-setpoint.js';

const COURSE_MS = 0.5;
const SPEED_UP_MS2 = 1;
const SLOW_DOWN_MS2 = 2;
const TURN_RAD_S = 2;
/** The change of the rate at which a motion turns the chassis. */
const TURN_RAD_S2 = 10;
/** Near the course, the wanted heading turns towards it by this many radians per metre of distance. */
const STEER_RAD_M = 2;
/** The reference waits if the chassis is this far from it. */
const LEASH_M = 0.3;

/** Called when a motion or mode ends in which an obstacle held the chassis back: the loop must not keep pushing. */
interface Relax {
  readonly driving: () => void;
  readonly turning: () => void;
}

/** The place, speed and heading that the chassis should have: held, or moving along the course. */
export class ChassisReference {
  readonly #periodS: number;
  #search = new CourseSearch();
  #isOnCourse = false;
  /** The distance that the chassis has driven since the mode was entered. */
  placeM = 0;
  /** The distance that the chassis should have driven since the mode was entered. */
  aimM = 0;
  readonly #speed: MovedSetpoint;
  readonly #turn: MovedSetpoint;
  /** It is not wrapped: a full turn adds 2 pi. */
  headingRad = 0;
  /** Distance from the course, to its left. */
  besideM = 0;

  constructor(periodS: number) {
    this.#periodS = periodS;
    this.#speed = new MovedSetpoint(periodS, SLOW_DOWN_MS2);
    this.#turn = new MovedSetpoint(periodS, TURN_RAD_S2);
  }

  get speedMS(): number {
    return this.#speed.rate;
  }

  /** Starts from the place and speed that the chassis has, not from those that it should have had. */
  enter({ courseRad, speedMS }: Odometer, relax: Relax): void {
    if (this.#speed.isBlocked) relax.driving();
    if (this.#turn.isBlocked) relax.turning();
    this.#search = new CourseSearch();
    this.#isOnCourse = false;
    this.placeM = 0;
    this.aimM = 0;
    this.#speed.start(speedMS);
    this.#turn.start(0);
    this.headingRad = courseRad;
  }

  /** One loop period in which the reference moves at these rates. At rates of 0 it slows down, and then holds. */
  hold({ wayM, courseRad }: Odometer, { speed = 0, turn = 0 }: Rates, relax: Relax): void {
    this.placeM += wayM;
    this.aimM = this.#speed.next(this.aimM, this.placeM, speed, relax.driving);
    // The chassis may have been turned by hand, and turned on to the same heading.
    const nearRad = this.headingRad + wrapped(courseRad - this.headingRad);
    this.headingRad = this.#turn.next(this.headingRad, nearRad, turn, relax.turning);
  }

  /** Follows the chassis while something else drives it. Nothing jumps when the reference drives again. */
  yield({ wayM }: Odometer): void {
    this.placeM += wayM;
    this.aimM = this.placeM;
    this.#speed.start(0);
  }

  /** On the course: the distance of the chassis along the lap. Otherwise: the distance driven since the mode was entered. */
  get shownM(): number {
    if (!this.#isOnCourse) return this.placeM;
    const placeM = this.#search.bestM + this.placeM;
    return placeM - LAP_M * Math.floor(placeM / LAP_M);
  }

  /** Holds until it has found the best place to join the course. Then drives the course. */
  drive(odometer: Odometer, relax: Relax): void {
    const { xM, yM, courseRad, headingRad } = odometer;
    this.#isOnCourse = this.#search.compare(xM, yM, headingRad);
    if (!this.#isOnCourse) {
      this.hold(odometer, {}, relax);
      return;
    }
    const point = courseAt(this.#search.bestM + this.placeM);
    const cosine = Math.cos(point.headingRad);
    const sine = Math.sin(point.headingRad);
    this.placeM += (xM - point.xM) * cosine + (yM - point.yM) * sine;
    this.besideM = (yM - point.yM) * cosine - (xM - point.xM) * sine;
    const wantedRad = point.headingRad - Math.atan(STEER_RAD_M * this.besideM);
    const step = TURN_RAD_S * this.#periodS;
    this.headingRad += clamped(wrapped(wantedRad - this.headingRad), -step, step);
    const speedMS = COURSE_MS * Math.max(0, Math.cos(wantedRad - courseRad));
    this.#speed.start(towards(this.speedMS, speedMS, SPEED_UP_MS2 * this.#periodS));
    const aimM = this.aimM + this.speedMS * this.#periodS;
    this.aimM = clamped(aimM, this.placeM - LEASH_M, this.placeM + LEASH_M);
    this.#speed.isBlocked = this.aimM !== aimM;
  }
}
