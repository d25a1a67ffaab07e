import { type Course, simulate } from './closed-loop.js';
import { type ExcitedRun, sizeOf } from './excited-run.js';
import { nelderMead } from './nelder-mead.js';
import { type LoopShape, outputReach, type Plant, plantSpace } from './plant.js';

const STARTS = 300;
/** The best results of each stage start the next stage, with a smaller simplex. */
const STAGES = [
  { descents: 6, simplex: 0.12, evaluations: 120 },
  { descents: 2, simplex: 0.06, evaluations: 250 },
  { descents: 1, simplex: 0.04, evaluations: 300 },
  { descents: 1, simplex: 0.01, evaluations: 250 },
];

/**
 * Finds the plant that fits the records best, in closed loop with the firmware's PID. Tries each starting
 * point with and without `bridged` (see `Course`). `errorPercent` is the root mean square of the difference
 * from the records, in percent of the step.
 */
export function fitPlant(shape: LoopShape, runs: readonly ExcitedRun[]) {
  const [first] = runs;
  if (first === undefined) throw new RangeError('nothing was recorded');
  const { dimensions, plantAt } = plantSpace(shape, sizeOf(first), first.output, usedReach(shape, first));
  const random = seededRandom(1);
  let found = Array.from({ length: STARTS }, () => {
    const point: readonly number[] = Array.from({ length: dimensions }, random);
    const plain = misfitOf(shape, [first], plantAt(point), false);
    const bridged = misfitOf(shape, [first], plantAt(point), true);
    return { point, bridged: bridged < plain, value: Math.min(plain, bridged) };
  });
  for (const { descents, simplex, evaluations } of STAGES) {
    found.sort((a, b) => a.value - b.value);
    found = found.slice(0, descents).map(({ point, bridged }) => {
      const cost = (where: readonly number[]) => misfitOf(shape, runs, plantAt(where), bridged);
      return { ...nelderMead(cost, point, simplex, evaluations), bridged };
    });
  }
  const [best] = found;
  if (best === undefined) throw new RangeError('nothing was found');
  return { plant: plantAt(best.point), errorPercent: 100 * Math.sqrt(best.value) };
}

/** The largest output that these gains can have requested. */
function usedReach(shape: LoopShape, run: ExcitedRun): number {
  const { kp, ki } = run.gains;
  const halfS = run.halfTicks * shape.periodS;
  return Math.min(outputReach(shape), (Math.abs(kp) + (Math.abs(ki) * halfS) / 2) * sizeOf(run));
}

/** The setpoints of a recorded run, as a course to simulate. */
function courseOf({ halves, halfTicks, output }: ExcitedRun, bridged: boolean): Course {
  const [first] = halves;
  const from = { measured: first?.measured[0] ?? 0, output, setpoint: first?.from ?? 0 };
  return { setpoints: halves.map(({ to }) => to), ticksEach: halfTicks, from, bridged };
}

/** Mean squared difference between simulated and recorded values, relative to the step. */
function misfitOf(shape: LoopShape, runs: readonly ExcitedRun[], plant: Plant, bridged: boolean): number {
  let sum = 0;
  for (const run of runs) {
    const size = sizeOf(run);
    const simulated = simulate(plant, shape, run.gains, courseOf(run, bridged), 50 * size);
    if (simulated === undefined) return Number.POSITIVE_INFINITY;
    let squares = 0;
    let count = 0;
    for (const [half, { measured }] of run.halves.entries()) {
      for (let sample = 1; sample < measured.length; sample += 1) {
        const tick = half * run.halfTicks + sample * run.decimation - 1;
        const difference = (simulated[tick] ?? 0) - (measured[sample] ?? 0);
        squares += difference * difference;
        count += 1;
      }
    }
    sum += squares / Math.max(1, count) / (size * size);
  }
  return sum / runs.length;
}

/** Returns a generator of numbers from 0 to 1 (mulberry32). */
function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
