import type { Style } from '../core/tuning-terms.js';
import { bounded, type Gains } from '../core/units.js';
import {
  type Evaluation,
  evaluate,
  evaluateStep,
  type Horizon,
  livelinessOf,
  restlessnessOf,
} from './evaluation.js';
import { nelderMead } from './nelder-mead.js';
import type { LoopShape, Plant } from './plant.js';

interface Temper {
  /** The largest allowed peak of the sensitivity. */
  readonly liveliness: number;
  /** Gentler gains may cost more than the best ones, by at most this fraction. */
  readonly yielding: number;
}

const TEMPERS: Readonly<Record<Style, Temper>> = {
  gentle: { liveliness: 1.4, yielding: 0.25 },
  normal: { liveliness: 1.7, yielding: 0.1 },
  brisk: { liveliness: 1.9, yielding: 0.03 },
};

export interface DesignTask {
  readonly shape: LoopShape;
  readonly plant: Plant;
  readonly horizon: Horizon;
  /** The latest recorded gains. Proposed gains differ from these at most by a factor of ten. */
  readonly gains: Gains;
  /** Standard deviation of the noise on the measured value. */
  readonly sigma: number;
  /** The time between two recorded samples. */
  readonly sampleS: number;
  readonly style: Style;
}

/**
 * The real plant may differ from the fitted one. It may be stronger with more delay, weaker, or have more
 * friction.
 */
const DOUBTS = [
  { gain: 1.25, friction: 1, samplesLate: 0.5 },
  { gain: 0.75, friction: 1, samplesLate: 0 },
  { gain: 1, friction: 1.3, samplesLate: 0 },
];
const MOST_CHANGE = 10;
/** A larger ki may raise the cost by at most this factor. */
const STEADINESS = 1.05;
const RESTLESSNESS = 0.03;
const EVALUATIONS = 180;
const SIMPLEX = 0.25;

/**
 * The weight of the error while the setpoint moves. In auto a loop mostly follows, and seldom makes a step.
 */
const FOLLOWING = 3;
const SHORTEST_S = 0.25;
const SETTLINGS = 5;

/** For each kind of plant, the number of gains to design, in the order kp, ki, kd. */
const MEMBERS: Readonly<Record<LoopShape['plant'], number>> = { servo: 3, lag: 2, integrator: 1 };

/**
 * Finds gains that are quick and calm on this plant and on slightly different plants. `costNow` is the cost of the
 * latest gains.
 */
export function design(whole: DesignTask) {
  const { shape, plant, horizon } = whole;
  const seeds = seedsOf(whole).map(gains => bounded(gains, shape.bounds));
  // A quick loop has settled long before the end of a half period, so the rest of the half period is not
  // simulated.
  const settlings = seeds.map(gains => evaluateStep(plant, shape, gains, horizon).settlingS);
  const seconds = Math.min(horizon.seconds, Math.max(SHORTEST_S, SETTLINGS * Math.min(...settlings)));
  const task = { ...whole, horizon: { ...horizon, seconds } };
  const members = MEMBERS[shape.plant];
  const pointOf = ({ kp, ki, kd }: Gains) =>
    [kp, ki, kd].slice(0, members).map(gain => Math.log(Math.max(gain, 1e-9)));
  const gainsAt = (point: readonly number[]): Gains => {
    const [kp = 0, ki = 0, kd = 0] = point.map(Math.exp);
    return bounded({ kp, ki, kd }, shape.bounds);
  };
  const ranked = seeds
    .map(gains => ({ gains, cost: costOf(task, gains) }))
    .sort((a, b) => a.cost - b.cost)
    .slice(0, 2);
  const minima = ranked.map(({ gains }) =>
    nelderMead(point => costOf(task, gainsAt(point)), pointOf(gains), SIMPLEX, EVALUATIONS),
  );
  const best = minima.reduce((one, other) => (other.value < one.value ? other : one));
  const gains = steadied(task, gentled(task, gainsAt(best.point), best.value));
  const evaluation = evaluate(plant, shape, gains, task.horizon);
  return { gains, evaluation, cost: costOf(task, gains), costNow: costOf(task, task.gains) };
}

/** The cost in seconds. Exceeding a bound multiplies the cost. */
function costOf(task: DesignTask, gains: Gains): number {
  const { plant, shape, horizon, style, sigma, sampleS } = task;
  const evaluation = evaluate(plant, shape, gains, horizon);
  const nominal = costOfStep(evaluation, 1);
  if (!Number.isFinite(nominal)) return Number.POSITIVE_INFINITY;
  const { lagS } = evaluation;
  let worst = nominal;
  for (const { gain, friction, samplesLate } of DOUBTS) {
    if (friction !== 1 && plant.friction === 0) continue;
    const other = {
      ...plant,
      gain: plant.gain * gain,
      friction: plant.friction * friction,
      delayS: plant.delayS + samplesLate * sampleS,
    };
    worst = Math.max(worst, costOfStep({ ...evaluateStep(other, shape, gains, horizon), lagS }, 8));
  }
  const lively = livelinessOf(plant, shape, gains, sampleS) / TEMPERS[style].liveliness;
  const restless = restlessnessOf(shape, gains, sigma) / RESTLESSNESS;
  const { kp: before } = task.gains;
  const farness = gains.kp <= 0 || before <= 0 ? 0 : Math.max(gains.kp / before, before / gains.kp);
  const fence = beyond(lively, 4) * beyond(restless, 2) * beyond(farness / MOST_CHANGE, 1);
  return ((nominal + worst) / 2) * fence;
}

/** The best gains, scaled down as far as that costs little more. */
function gentled(task: DesignTask, best: Gains, cost: number): Gains {
  const most = cost * (1 + TEMPERS[task.style].yielding);
  let gentle = best;
  for (let share = 0.97; share > 0.4; share *= 0.97) {
    const scaled = { kp: best.kp * share, ki: best.ki * share, kd: best.kd * share };
    const candidate = bounded(scaled, task.shape.bounds);
    if (costOf(task, candidate) > most) break;
    gentle = candidate;
  }
  return gentle;
}

/** Raises ki as far as the cost of a step allows. More ki helps against loads and moving setpoints. */
function steadied(task: DesignTask, gains: Gains): Gains {
  if (task.shape.plant === 'integrator') return gains;
  const most = STEADINESS * costOf(task, gains);
  let steady = gains;
  for (let ki = Math.max(gains.ki, 0.1 * gains.kp); ki < 100 * gains.kp; ki *= 1.1) {
    const candidate = bounded({ ...gains, ki }, task.shape.bounds);
    if (costOf(task, candidate) > most) break;
    steady = candidate;
  }
  return steady;
}

function costOfStep(evaluation: Evaluation, overshootAllowed: number): number {
  const { settlingS, slownessS, loadS, lagS, overshootPercent } = evaluation;
  const sum = settlingS + slownessS + loadS + FOLLOWING * lagS;
  return sum * (1 + 0.15 * Math.max(0, overshootPercent - overshootAllowed));
}

/** A factor that is 1 up to the bound and rises beyond it. */
function beyond(partOfBound: number, steepness: number): number {
  return partOfBound <= 1 ? 1 : 1 + steepness * (partOfBound - 1);
}

/** Closed-loop time constants, in multiples of the delay. */
const SPEEDS = [0.5, 1, 2, 4, 8, 16];

/** Starting points: internal model control after Skogestad (SIMC), from brisk to slow; and the gains in force. */
function seedsOf({ shape, plant, gains }: DesignTask): readonly Gains[] {
  const theta = plant.delayS + plant.sensorS / 2 + 1.5 * shape.periodS;
  const seeds = SPEEDS.flatMap(times => {
    const seed = simc(shape, plant, theta, times * theta);
    // With a smaller ki, a servo overshoots less.
    return shape.plant === 'servo' ? [seed, { ...seed, ki: seed.ki / 10 }] : [seed];
  });
  return gains.kp > 0 ? [...seeds, gains] : seeds;
}

function simc(shape: LoopShape, { gain, tauS }: Plant, theta: number, tc: number): Gains {
  const k = gain * tauS;
  if (shape.plant === 'integrator') return { kp: 1 / (k * (tc + theta + tauS)), ki: 0, kd: 0 };
  const integralS = 4 * (tc + theta);
  if (shape.plant === 'lag') {
    const kc = tauS / (k * (tc + theta));
    return { kp: kc, ki: kc / Math.min(tauS + theta / 3, integralS), kd: 0 };
  }
  const kc = 1 / (k * (tc + theta));
  return { kp: kc * (1 + tauS / integralS), ki: kc / integralS, kd: kc * tauS };
}
