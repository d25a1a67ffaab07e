import { type Course, simulate } from './closed-loop.js';
import { type ExcitedRun, edgeOf, sizeOf } from './excited-run.js';
import { type LoopShape, outputReach } from './loop-shape.js';
import { type Minimum, nelderMead } from './nelder-mead.js';
import { type Plant, plantSpace } from './plant.js';
import { seededRandom } from './random.js';

export interface Fit {
  readonly plant: Plant;
  /** Whether the first edge of each run looks as if the controller had started from its old output. */
  readonly bridged: boolean;
  /** Root mean square of the difference to the records, in percent of the step. */
  readonly errorPercent: number;
}

interface Candidate extends Minimum {
  readonly bridged: boolean;
}

const STARTS = 300;
/** The best descents of each stage start the next one, with a smaller simplex. */
const STAGES = [
  { descents: 6, simplex: 0.12, evaluations: 120 },
  { descents: 2, simplex: 0.06, evaluations: 250 },
  { descents: 1, simplex: 0.04, evaluations: 300 },
  { descents: 1, simplex: 0.01, evaluations: 250 },
];

/** Finds the plant that comes nearest to the records, in closed loop with the firmware's PID. */
export function fitPlant(shape: LoopShape, runs: readonly ExcitedRun[], seed = 1): Fit {
  const [first] = runs;
  if (first === undefined) throw new RangeError('nothing was recorded');
  const space = plantSpace(shape, sizeOf(first), first.output, usedReach(shape, first));
  const random = seededRandom(seed);
  const misfit = misfitOf(shape, runs);
  const roughly = misfitOf(shape, runs.slice(0, 1));
  let found: Candidate[] = Array.from({ length: STARTS }, () => {
    const point = Array.from({ length: space.dimensions }, random);
    const plant = space.at(point);
    const [plain, bridged] = [roughly(plant, false), roughly(plant, true)];
    return { point, bridged: bridged < plain, value: Math.min(plain, bridged) };
  });
  for (const { descents, simplex, evaluations } of STAGES) {
    found.sort((a, b) => a.value - b.value);
    found = found.slice(0, descents).map(({ point, bridged }) => {
      const cost = (where: readonly number[]) => misfit(space.at(where), bridged);
      return { ...nelderMead(cost, point, simplex, evaluations), bridged };
    });
  }
  const [best] = found;
  if (best === undefined) throw new RangeError('nothing was found');
  return {
    plant: space.at(best.point),
    bridged: best.bridged,
    errorPercent: 100 * Math.sqrt(best.value),
  };
}

/** The largest output that the gains can have asked for. */
function usedReach(shape: LoopShape, run: ExcitedRun): number {
  const { kp, ki } = run.gains;
  const halfS = run.halfTicks * shape.periodS;
  return Math.min(outputReach(shape), (Math.abs(kp) + (Math.abs(ki) * halfS) / 2) * sizeOf(run));
}

/** The course of a recorded run. */
export function courseOf({ halves, halfTicks, output }: ExcitedRun, bridged: boolean): Course {
  const [first] = halves;
  const measured = first?.measured[0] ?? 0;
  const setpoint = first?.setpoint[0] ?? 0;
  return {
    setpoints: halves.map(half => edgeOf(half).to),
    ticksEach: halfTicks,
    from: { measured, output, setpoint },
    bridged,
  };
}

/** Mean squared difference between simulated and recorded values, as a part of the step. */
function misfitOf(shape: LoopShape, runs: readonly ExcitedRun[]) {
  const longest = Math.max(...runs.map(run => run.halves.length * run.halfTicks));
  const simulated = new Float64Array(longest);
  const known = runs.map(run => ({
    run,
    size: sizeOf(run),
    courses: { plain: courseOf(run, false), bridged: courseOf(run, true) },
  }));
  return (plant: Plant, bridged: boolean): number => {
    let sum = 0;
    for (const { run, size, courses } of known) {
      const course = bridged ? courses.bridged : courses.plain;
      if (!simulate(plant, shape, run.gains, course, simulated, 50 * size)) return Number.POSITIVE_INFINITY;
      let squares = 0;
      let count = 0;
      for (let half = 0; half < run.halves.length; half += 1) {
        const measured = run.halves[half]?.measured ?? [];
        for (let sample = 1; sample < measured.length; sample += 1) {
          const tick = half * run.halfTicks + sample * run.decimation - 1;
          const difference = (simulated[tick] ?? 0) - (measured[sample] ?? 0);
          squares += difference * difference;
          count += 1;
        }
      }
      sum += squares / Math.max(1, count) / (size * size);
    }
    return sum / known.length;
  };
}
