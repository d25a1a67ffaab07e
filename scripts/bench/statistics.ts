/** `part` from 0 to 1 of the values in order; NaN of none. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/**
 * Slope of the line through these points by Theil and Sen: the median of the slopes of all pairs, which a few wild
 * points do not move.
 */
export function slope(points: readonly (readonly [x: number, y: number])[]): number {
  const slopes = points.flatMap(([x1, y1], first) =>
    points.slice(first + 1).flatMap(([x2, y2]) => (x2 === x1 ? [] : [(y2 - y1) / (x2 - x1)])),
  );
  return median(slopes);
}
