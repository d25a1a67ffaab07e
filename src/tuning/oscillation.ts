interface Oscillation {
  /** The amplitude, in the unit of the samples. */
  readonly swing: number;
  readonly frequencyHz: number;
}

/** Swings are looked for in this last part of the record. */
const LATE = 0.6;
/** A swing smaller than this part of the step does not count. */
const SWING = 0.04;
/** One and a half periods have this many crossings. Fewer are an overshoot that comes back. */
const CROSSINGS = 3;

/** The swing in the last part of the record, if it is more than `band` and lasts one and a half periods. */
export function oscillationOf(
  measured: ArrayLike<number>,
  periodS: number,
  band: number,
  step: number,
): Oscillation | null {
  const from = Math.floor(measured.length * (1 - LATE));
  const late = Array.from(measured).slice(from);
  const low = late.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);
  const high = late.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
  const middle = (low + high) / 2;
  const least = Math.max(SWING * step, band);
  const crossings: number[] = [];
  let side = 0;
  for (const [index, value] of late.entries()) {
    const away = value - middle;
    if (Math.abs(away) < least / 2 || Math.sign(away) === side) continue;
    if (side !== 0) crossings.push(index);
    side = Math.sign(away);
  }
  const swing = (high - low) / 2;
  const first = crossings[0];
  const last = crossings.at(-1);
  if (swing < least || crossings.length < CROSSINGS || first === undefined || last === undefined) return null;
  return { swing, frequencyHz: (crossings.length - 1) / (2 * (last - first) * periodS) };
}

/** Root of the sum of the squared binomial coefficients of a fourth difference. */
const FOURTH_DIFFERENCE = Math.sqrt(70);

/** Standard deviation of the noise from sample to sample. The loop's own movement is too smooth to count. */
export function noiseOf(measured: ArrayLike<number>): number {
  const from = Math.floor(measured.length * (1 - LATE));
  const at = (index: number) => measured[index] ?? 0;
  let squares = 0;
  let count = 0;
  for (let index = from + 4; index < measured.length; index += 1) {
    const difference = at(index) - 4 * at(index - 1) + 6 * at(index - 2) - 4 * at(index - 3) + at(index - 4);
    squares += difference * difference;
    count += 1;
  }
  return count === 0 ? 0 : Math.sqrt(squares / count) / FOURTH_DIFFERENCE;
}
