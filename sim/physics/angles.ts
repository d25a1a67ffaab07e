/** The same direction, in the range from -pi to pi. */
export function wrapped(angleRad: number): number {
  return angleRad - 2 * Math.PI * Math.round(angleRad / (2 * Math.PI));
}

export function clamped(value: number, min: number, max: number): number {
  return Math.min(max, Math.max(min, value));
}

/** `from`, moved towards `to` by at most `most`. */
export function towards(from: number, to: number, most: number): number {
  return from + clamped(to - from, -most, most);
}
