import type { Style } from '../core/tuning-terms.js';
import type { Gains } from '../core/units.js';
import { type Evaluation, Evaluator, type Horizon, livelinessOf, restlessnessOf } from './evaluation.js';
import type { LoopShape } from './loop-shape.js';
import { nelderMead } from './nelder-mead.js';
import type { Plant } from './plant.js';

interface Temper {
  /** Largest peak of the sensitivity. */
  readonly liveliness: number;
  /** How much more than the best gains gentler ones may cost, as a part of it. */
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
  /** The gains in force while the plant was found. No proposal goes further than ten times from these. */
  readonly gains: Gains;
  /** Standard deviation of the noise on the measured value. */
  readonly sigma: number;
  /** The time between two recorded samples. */
  readonly sampleS: number;
  readonly style: Style;
}

export interface Design {
  readonly gains: Gains;
  readonly evaluation: Evaluation;
  readonly cost: number;
}

/** The plant may be stronger and later, weaker, or stickier than it was found. */
const DOUBTS = [
  { gain: 1.25, friction: 1, samplesLate: 0.5 },
  { gain: 0.75, friction: 1, samplesLate: 0 },
  { gain: 1, friction: 1.3, samplesLate: 0 },
];
const MOST_CHANGE = 10;
/** The factor by which more of the integrator may raise the cost. */
const STEADINESS = 1.05;
const RESTLESSNESS = 0.03;
const LOOKS = 180;
const SIMPLEX = 0.25;

/** A loop that follows in auto is judged by its error there more than by a step that nobody makes. */
const FOLLOWING = 3;
const SHORTEST_S = 0.25;
const SETTLINGS = 5;

type Member = keyof Gains;

/** The gains that a loop of this kind has. */
function membersOf({ plant }: LoopShape): readonly Member[] {
  switch (plant) {
    case 'servo':
      return ['kp', 'ki', 'kd'];
    case 'lag':
      return ['kp', 'ki'];
    case 'integrator':
      return ['kp'];
  }
}

/** Finds good gains for a plant: quick and calm, also if the plant is not quite what it seems. */
export function design(task: DesignTask): Design {
  const { shape } = task;
  const members = membersOf(shape);
  const seeds = seedsOf(task);
  const judge = new Judge({ ...task, horizon: shortened(task, seeds) });
  const pointOf = (gains: Gains) => members.map(name => Math.log(Math.max(gains[name], 1e-9)));
  const gainsAt = (point: ArrayLike<number>): Gains => {
    const gains = { kp: 0, ki: 0, kd: 0 };
    members.forEach((name, index) => {
      gains[name] = Math.exp(point[index] ?? 0);
    });
    return gains;
  };
  const ranked = seeds
    .map(gains => ({ gains, cost: judge.costOf(gains) }))
    .sort((a, b) => a.cost - b.cost)
    .slice(0, 2);
  const minima = ranked.map(({ gains }) =>
    nelderMead(point => judge.costOf(gainsAt(point)), pointOf(gains), SIMPLEX, LOOKS),
  );
  const best = minima.reduce((one, other) => (other.value < one.value ? other : one));
  const gains = judge.gentled(gainsAt(best.point), best.value);
  return { gains, evaluation: judge.evaluation(gains), cost: judge.costOf(gains) };
}

/** The horizon without the time in which a quick loop shows nothing new. */
function shortened(task: DesignTask, seeds: readonly Gains[]): Horizon {
  const evaluator = new Evaluator(task.shape, task.horizon);
  const quickest = Math.min(...seeds.map(gains => evaluator.stepOf(task.plant, gains).settlingS));
  const seconds = Math.min(task.horizon.seconds, Math.max(SHORTEST_S, SETTLINGS * quickest));
  return { ...task.horizon, seconds };
}

/** The cost of the gains in force on a plant, by the same measure. */
export function worthOf(task: DesignTask, gains: Gains): Design {
  const judge = new Judge({ ...task, horizon: shortened(task, seedsOf(task)) });
  return { gains, evaluation: judge.evaluation(gains), cost: judge.costOf(gains) };
}

class Judge {
  readonly #task: DesignTask;
  readonly #evaluator: Evaluator;

  constructor(task: DesignTask) {
    this.#task = task;
    this.#evaluator = new Evaluator(task.shape, task.horizon);
  }

  evaluation(gains: Gains): Evaluation {
    return this.#evaluator.of(this.#task.plant, gains);
  }

  /** The cost in seconds. What is beyond a bound counts several times. */
  costOf(gains: Gains): number {
    const { plant, shape, style, sigma, sampleS } = this.#task;
    const evaluation = this.#evaluator.of(plant, gains);
    const nominal = costOf(evaluation, 1);
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
      worst = Math.max(worst, costOf({ ...this.#evaluator.stepOf(other, gains), lagS }, 8));
    }
    const lively = livelinessOf(plant, shape, gains, sampleS) / TEMPERS[style].liveliness;
    const restless = restlessnessOf(shape, gains, sigma) / RESTLESSNESS;
    const fence = beyond(lively, 4) * beyond(restless, 2) * this.#farness(gains);
    return ((nominal + worst) / 2) * fence;
  }

  /** The smallest kp and kd that cost little more than the best gains. */
  gentled(best: Gains, cost: number): Gains {
    const most = cost * (1 + TEMPERS[this.#task.style].yielding);
    let gentle = best;
    for (let share = 0.97; share > 0.4; share *= 0.97) {
      const candidate = { kp: best.kp * share, ki: best.ki * share, kd: best.kd * share };
      if (this.costOf(candidate) > most) break;
      gentle = candidate;
    }
    return this.#steadied(gentle, STEADINESS * this.costOf(gentle));
  }

  /**
   * The gains with as much of the integrator as the step allows, which helps against loads and when the loop follows.
   */
  #steadied(gains: Gains, most: number): Gains {
    if (this.#task.shape.plant === 'integrator') return gains;
    let steady = gains;
    for (let ki = Math.max(gains.ki, 0.1 * gains.kp); ki < 100 * gains.kp; ki *= 1.1) {
      const candidate = { ...gains, ki };
      if (this.costOf(candidate) > most) break;
      steady = candidate;
    }
    return steady;
  }

  #farness(gains: Gains): number {
    const now = this.#task.gains;
    const factor = (name: Member) => {
      const [one, other] = [gains[name], now[name]];
      if (one <= 0 || other <= 0) return 1;
      return Math.max(one / other, other / one);
    };
    return beyond(factor('kp') / MOST_CHANGE, 1);
  }
}

function costOf(evaluation: Evaluation, overshootAllowed: number): number {
  const { settlingS, slownessS, loadS, lagS, overshootPercent } = evaluation;
  const sum = settlingS + slownessS + loadS + FOLLOWING * lagS;
  return sum * (1 + 0.15 * Math.max(0, overshootPercent - overshootAllowed));
}

/** A factor that is 1 up to the bound and then rises steeply. */
function beyond(partOfBound: number, steepness: number): number {
  return partOfBound <= 1 ? 1 : 1 + steepness * (partOfBound - 1);
}

/** Closed-loop time constants, in parts of the delay. */
const SPEEDS = [0.5, 1, 2, 4, 8, 16];

/** Internal model control after Skogestad (SIMC), from brisk to slow; and the gains in force. */
function seedsOf({ shape, plant, gains }: DesignTask): readonly Gains[] {
  const theta = plant.delayS + plant.sensorS / 2 + 1.5 * shape.periodS;
  const seeds = SPEEDS.flatMap(times => {
    const seed = simc(shape, plant, theta, times * theta);
    // A servo with less of the integrator overshoots less.
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
