type Matrix = readonly (readonly number[])[];

function multiply(a: Matrix, b: Matrix): number[][] {
  return a.map(row =>
    row.map((_, column) => row.reduce((sum, value, k) => sum + value * (b[k]?.[column] ?? 0), 0)),
  );
}

const TAYLOR_TERMS = 18;

/** The largest norm of a matrix. Above it, rounding errors of the squarings would leave no correct digit. */
const MAX_NORM = 1e9;

/**
 * The exponential of a square matrix. Scales to a norm below 1/2, uses Taylor's series, and squares back. Throws
 * RangeError.
 */
function matrixExponential(matrix: Matrix): number[][] {
  const norm = Math.max(...matrix.map(row => row.reduce((sum, value) => sum + Math.abs(value), 0)));
  if (!(norm <= MAX_NORM)) throw new RangeError(`too fast to integrate: ${norm} time constants in a step`);
  const squarings = norm > 0.5 ? Math.ceil(Math.log2(norm / 0.5)) : 0;
  const scaled = matrix.map(row => row.map(value => value / 2 ** squarings));
  let term: number[][] = matrix.map((row, i) => row.map((_, k) => (k === i ? 1 : 0)));
  let sum = term;
  for (let k = 1; k <= TAYLOR_TERMS; k += 1) {
    term = multiply(term, scaled).map(row => row.map(value => value / k));
    sum = sum.map((row, i) => row.map((value, j) => value + (term[i]?.[j] ?? 0)));
  }
  for (let k = 0; k < squarings; k += 1) sum = multiply(sum, sum);
  return sum;
}

/**
 * The exact step from one sample to the next while the inputs are held. There is one row per state, as in the given
 * differential equations: first the factors of the states, then those of the inputs.
 */
export function discretize(equations: Matrix, dtS: number): number[][] {
  const size = equations[0]?.length ?? 0;
  const inputs = Array.from({ length: size - equations.length }, () => new Array<number>(size).fill(0));
  const change = [...equations, ...inputs].map(row => row.map(factor => factor * dtS));
  return matrixExponential(change).slice(0, equations.length);
}
