interface Minimum {
  readonly point: readonly number[];
  readonly value: number;
}

/** Minimises `cost` by the Nelder-Mead method, with at most `evaluations` calls. `cost` may return infinity. */
export function nelderMead(
  cost: (point: readonly number[]) => number,
  start: readonly number[],
  size: number,
  evaluations: number,
): Minimum {
  const evaluated = (point: readonly number[]): Minimum => ({ point, value: cost(point) });
  const origin = evaluated(start);
  const simplex = [origin, ...start.map((value, axis) => evaluated(start.with(axis, value + size)))];
  let left = evaluations - simplex.length;
  const last = simplex.length - 1;
  const at = (index: number) => simplex[index] ?? origin;
  while (left > 0) {
    simplex.sort((a, b) => a.value - b.value);
    const best = at(0);
    const worst = at(last);
    if (worst.value - best.value <= 1e-9 * Math.abs(best.value)) break;
    /**
     * Evaluates a point on the line from the worst corner through the centroid of the others. Factor 1
     * mirrors the worst corner at the centroid. A negative factor stays on the worst corner's side.
     */
    const through = (factor: number) => {
      left -= 1;
      const point = worst.point.map((value, axis) => {
        const middle = simplex.slice(0, last).reduce((sum, one) => sum + (one.point[axis] ?? 0), 0) / last;
        return middle + factor * (middle - value);
      });
      return evaluated(point);
    };
    const mirrored = through(1);
    if (mirrored.value < best.value) {
      const farther = through(2);
      simplex[last] = farther.value < mirrored.value ? farther : mirrored;
    } else if (mirrored.value < at(last - 1).value) simplex[last] = mirrored;
    else {
      const nearer = mirrored.value < worst.value ? through(0.5) : through(-0.5);
      if (nearer.value < Math.min(mirrored.value, worst.value)) simplex[last] = nearer;
      else {
        for (let index = 1; index <= last; index += 1) {
          const towards = at(index).point.map((value, axis) => (value + (best.point[axis] ?? 0)) / 2);
          simplex[index] = evaluated(towards);
          left -= 1;
        }
      }
    }
  }
  return simplex.reduce((best, one) => (one.value < best.value ? one : best));
}
