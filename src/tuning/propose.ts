import { noiseOf } from '../core/oscillation.js';
import { type Design, type DesignTask, design, worthOf } from './design.js';
import { type ExcitedRun, sizeOf, turnedRound } from './excited-run.js';
import { type Fit, fitPlant } from './fit.js';
import type { ProposalTask } from './tuner.js';

export interface Proposal {
  readonly fit: Fit;
  readonly design: Design;
  /** What the latest gains are worth on this plant. */
  readonly now: Design;
}

/** Gains for a loop from what was recorded of it: about a second of computing. */
export function propose({ shape, runs, style }: ProposalTask): Proposal {
  const upright = shape.sign === 1 ? runs : runs.map(turnedRound);
  const fit = fitPlant(shape, upright);
  const latest = upright.at(-1);
  if (latest === undefined) throw new RangeError('nothing was recorded');
  const designTask: DesignTask = {
    shape,
    plant: fit.plant,
    horizon: {
      size: sizeOf(latest),
      seconds: latest.halfTicks * shape.periodS,
      output: latest.output,
    },
    gains: latest.gains,
    sigma: noiseIn(upright),
    sampleS: latest.decimation * shape.periodS,
    style,
  };
  const found = design(designTask);
  const now = worthOf(designTask, latest.gains);
  return { fit, design: { ...found, gains: rounded(found.gains) }, now };
}

function noiseIn(runs: readonly ExcitedRun[]): number {
  const sigmas = runs.flatMap(run => run.halves.map(half => noiseOf(half.measured))).sort((a, b) => a - b);
  return sigmas[Math.floor(sigmas.length / 2)] ?? 0;
}

const DIGITS = 3;

function rounded({ kp, ki, kd }: Design['gains']): Design['gains'] {
  const round = (value: number) => Number(value.toPrecision(DIGITS));
  return { kp: round(kp), ki: round(ki), kd: round(kd) };
}
