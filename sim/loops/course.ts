/** A place on the closed course, by its distance along the lap. */
interface CoursePoint {
  readonly xM: number;
  readonly yM: number;
  /** Not wrapped: it runs from -2 pi / 3 to 2 pi / 3. */
  readonly headingRad: number;
}

const RADIUS_M = 0.8;
/** Each end of the eight is a bend of 240 degrees. The straights between the ends cross at 60 degrees. */
const HALF_BEND_RAD = (2 * Math.PI) / 3;
const BEND_M = 2 * HALF_BEND_RAD * RADIUS_M;
const STRAIGHT_M = 2 * RADIUS_M * Math.sqrt(3);

export const LAP_M = 2 * (BEND_M + STRAIGHT_M);

/** Distance between the centres of the two bends. */
const CENTRES_M = 4 * RADIUS_M;

/**
 * A figure of eight on the floor. It begins at the origin, in the middle of its near bend, heading along x. It turns left
 * there and right in the far bend, so its heading never makes a full circle.
 */
export function courseAt(placeM: number): CoursePoint {
  let rest = placeM - LAP_M * Math.floor(placeM / LAP_M);
  if (rest < BEND_M / 2) return bend(RADIUS_M, 1, rest / RADIUS_M);
  rest -= BEND_M / 2;
  if (rest < STRAIGHT_M) return straight(bend(RADIUS_M, 1, HALF_BEND_RAD), rest);
  rest -= STRAIGHT_M;
  if (rest < BEND_M) return bend(RADIUS_M + CENTRES_M, -1, rest / RADIUS_M - HALF_BEND_RAD);
  rest -= BEND_M;
  if (rest < STRAIGHT_M) return straight(bend(RADIUS_M + CENTRES_M, -1, HALF_BEND_RAD), rest);
  rest -= STRAIGHT_M;
  return bend(RADIUS_M, 1, rest / RADIUS_M - HALF_BEND_RAD);
}

/** The point at `angleRad` from the middle of the bend whose centre is at (0, `centreM`). */
function bend(centreM: number, side: 1 | -1, angleRad: number): CoursePoint {
  return {
    xM: RADIUS_M * Math.sin(angleRad),
    yM: centreM - side * RADIUS_M * Math.cos(angleRad),
    headingRad: side * angleRad,
  };
}

function straight(from: CoursePoint, wayM: number): CoursePoint {
  return {
    xM: from.xM + wayM * Math.cos(from.headingRad),
    yM: from.yM + wayM * Math.sin(from.headingRad),
    headingRad: from.headingRad,
  };
}

const SEARCH_M = 0.05;
/** A heading that is wrong by 90 degrees costs as much as this distance. */
const WRONG_HEADING_M = 1;

/** Searches for the place where the chassis best joins the course: near, and with nearly the same heading. */
export class CourseSearch {
  bestM = 0;
  #nextM = 0;
  #least = Number.POSITIVE_INFINITY;

  /** Compares one place, because a chip has no time for more in a loop period. Returns whether the search has ended. */
  compare(xM: number, yM: number, headingRad: number): boolean {
    if (this.#nextM >= LAP_M) return true;
    const point = courseAt(this.#nextM);
    const turn = 1 - Math.cos(point.headingRad - headingRad);
    const cost = Math.hypot(point.xM - xM, point.yM - yM) + WRONG_HEADING_M * turn;
    if (cost < this.#least) {
      this.#least = cost;
      this.bestM = this.#nextM;
    }
    this.#nextM += SEARCH_M;
    return false;
  }
}
