import type { Style } from '../core/tuning-terms.js';
import type { Gains } from '../core/units.js';
import type { Tune } from '../schemas/tune.js';
import { simulate } from './closed-loop.js';
import { type DesignTask, design } from './design.js';
import { restAt } from './evaluation.js';
import { type ExcitedRun, sizeOf, turnedRound } from './excited-run.js';
import { fitPlant } from './fit.js';
import type { LoopShape } from './plant.js';
import { noiseOf } from './step-figures.js';

export interface ProposalTask {
  readonly shape: LoopShape;
  readonly runs: readonly ExcitedRun[];
  readonly style: Style;
}

export interface Proposal {
  readonly gains: Gains;
  /** The predicted figures of a step from the lower to the upper end of the excitation. */
  readonly predicted: NonNullable<Tune['predicted']>;
  readonly cost: number;
  /** The cost of the latest gains on the same plant. */
  readonly costNow: number;
}

/** Proposes gains for a loop from its recorded runs. This computes for about a second. */
export function propose({ shape, runs, style }: ProposalTask): Proposal {
  const upright = shape.sign === 1 ? runs : runs.map(turnedRound);
  const { plant, errorPercent } = fitPlant(shape, upright);
  const latest = upright.at(-1);
  if (latest === undefined) throw new RangeError('nothing was recorded');
  const task: DesignTask = {
    shape,
    plant,
    horizon: { size: sizeOf(latest), seconds: latest.halfTicks * shape.periodS, output: latest.output },
    gains: latest.gains,
    sigma: noiseIn(upright),
    sampleS: latest.decimation * shape.periodS,
    style,
  };
  const { gains: found, evaluation, cost, costNow } = design(task);
  const gains = scaled(found, { kp: 1, ki: 1, kd: 1 });
  const { settlingS, overshootPercent } = evaluation;
  const predicted = { settlingS, overshootPercent, fitPercent: errorPercent, curve: curveOf(task, gains) };
  return { gains, predicted, cost, costNow };
}

function curveOf({ shape, plant, horizon, sampleS }: DesignTask, gains: Gains) {
  const { size, seconds } = horizon;
  const ticksEach = Math.round(seconds / shape.periodS);
  const from = restAt(-size / 2, plant, shape, horizon);
  const simulated = simulate(plant, shape, gains, { setpoints: [size / 2], ticksEach, from }) ?? [];
  const every = Math.max(1, Math.round(sampleS / shape.periodS));
  const measured = Array.from(simulated).filter((_, tick) => tick % every === 0);
  return { periodS: every * shape.periodS, setpoint: size / 2, measured };
}

function noiseIn(runs: readonly ExcitedRun[]): number {
  const sigmas = runs.flatMap(run => run.halves.map(half => noiseOf(half.measured))).sort((a, b) => a - b);
  return sigmas[Math.floor(sigmas.length / 2)] ?? 0;
}

const DIGITS = 3;

/** The gains times these factors, rounded as a person would type them. */
export function scaled({ kp, ki, kd }: Gains, by: Gains): Gains {
  const round = (value: number) => Number(value.toPrecision(DIGITS));
  return { kp: round(kp * by.kp), ki: round(ki * by.ki), kd: round(kd * by.kd) };
}
