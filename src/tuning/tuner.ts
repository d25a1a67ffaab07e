import type { Style } from '../core/tuning-terms.js';
import { bounded, type Gains, sameGains } from '../core/units.js';
import type { StepFigures } from '../schemas/step.js';
import type { Tune } from '../schemas/tune.js';
import { type ExcitedRun, figuresOf, figuresOfHalf, type HalfPeriod, movement } from './excited-run.js';
import type { LoopShape } from './plant.js';
import { type Proposal, type ProposalTask, scaled } from './propose.js';
import { Ringing } from './ringing.js';
import { stepScore } from './step-figures.js';

/** The tuner's access to the robot. Every act rejects once the tuning was ended early. */
export interface TunerPort {
  /** Resolves when the loop runs these gains, as a trial. */
  tryGains(gains: Gains): Promise<void>;
  /** Waits until the loop is at rest, excites it, and waits for rest again. */
  excite(request: ExcitationRequest): Promise<Recording>;
  /** Fits the plant and designs gains. */
  propose(task: ProposalTask): Promise<Proposal>;
  /** Tells people what the tuner does. */
  progress(words: string): void;
  /** The seconds left for the tuning of this loop. */
  secondsLeft(): number;
}

export interface ExcitationRequest {
  readonly amplitude: number;
  readonly periodS: number;
  /** The number of half periods to record. */
  readonly halves: number;
  /** The excitation ends when the distance to the setpoint has grown by more than this. */
  readonly runaway: number;
  /** Called for every reading, beginning before the excitation. If it returns true, the excitation ends at once. */
  readonly swingsOn: (atS: number, setpoint: number, measured: number) => boolean;
  /**
   * Called for every recorded half period, which shows oscillations that are too quick for readings. If it returns
   * true, the excitation ends.
   */
  readonly rings: (half: HalfPeriod, decimation: number) => boolean;
}

/**
 * An excitation that `ran away` or `rings` ended early. The recording may then contain the half periods before
 * the end.
 */
export type Recording = Omit<ExcitedRun, 'gains'> & { readonly end: 'whole' | 'ran away' | 'rings' };

interface TuneTask {
  readonly shape: LoopShape;
  readonly gains: Gains;
  readonly amplitude: number;
  readonly periodS: number;
  readonly style: Style;
}

/**
 * `better`: the proposal was measured and is better. `good`: the gains in force are as good. `failed`: no result. `predicted`
 * is null if the measured gains are not those of a proposal.
 */
export type TuneResult = Pick<Tune['results'][number], 'proposed' | 'predicted' | 'why'> & {
  readonly state: 'better' | 'good' | 'failed';
  readonly before: Measured;
};

/** Gains with the figures that were measured on them. */
export type Measured = NonNullable<Tune['before']>;

const HALVES = 3;
const RUNAWAY_AMPLITUDES = 3.5;
/**
 * The longest time for which the readings may show an oscillation. The loop oscillates somewhat longer, because polls
 * see it late, and ending the excitation takes frames.
 */
const SWINGS_ON_S = 0.7;
/**
 * Polls miss the peaks of a quick oscillation. So an oscillation counts even if polls show it smaller by this
 * factor.
 */
const SEEN_AT_POLLS = 0.7;
const ADJUSTMENTS = 4;
const MOVES = 0.25;
const ROUNDS = 5;
/**
 * The factor by which a round may take longer than the slowest round so far, because it has more recordings
 * to fit.
 */
const SPARE = 1.3;
/** A proposal is tried only if its cost is below this fraction of the cost of the latest gains. */
const WORTH_TRYING = 0.95;
/**
 * If the overshoot exceeds this percentage, gentler gains are tried: wheels may slip, and no fitted plant predicts
 * that.
 */
const FAR = 4;
const MILDER = { kp: 0.65, ki: 0.35, kd: 0.65 };
const CALMER = { kp: 0.4, ki: 0.15, kd: 0.4 };
const LIVELIER = { kp: 2.5, ki: 2.5, kd: 1 };

interface Attempt extends Measured {
  readonly run: ExcitedRun;
  readonly isUsable: boolean;
}

/** Measures the gains in force. */
export async function measure(task: TuneTask, port: TunerPort): Promise<Measured> {
  return measuredOf(await attempt(task, port, task.gains, 'measuring'));
}

async function attempt(
  { shape, amplitude, periodS }: TuneTask,
  port: TunerPort,
  gains: Gains,
  words: string,
): Promise<Attempt> {
  port.progress(words);
  await port.tryGains(gains);
  const rings = (half: HalfPeriod, decimation: number) =>
    figuresOfHalf(shape, half, decimation).end === 'rings';
  const ringing = new Ringing(SEEN_AT_POLLS * 2 * amplitude);
  const swingsOn = (atS: number, setpoint: number, measured: number) => {
    ringing.add(atS, setpoint, measured);
    return ringing.seconds > SWINGS_ON_S;
  };
  const runaway = RUNAWAY_AMPLITUDES * amplitude;
  const request = { amplitude, periodS, halves: HALVES, runaway, swingsOn, rings };
  const { end, ...recording } = await port.excite(request);
  const run = { ...recording, gains };
  const { figures: recorded, steps } = figuresOf(shape, run);
  const figures: StepFigures = end === 'rings' ? { ...recorded, end } : recorded;
  return { gains, figures, steps, run, isUsable: end === 'whole' && run.halves.length > 0 };
}

/** Looks for gains that are measurably better than the gains in force. */
export async function tune(task: TuneTask, port: TunerPort): Promise<TuneResult> {
  const { shape, style } = task;
  const attemptWith = (gains: Gains, words: string) => attempt(task, port, gains, words);
  const within = (gains: Gains) => bounded(gains, shape.bounds);

  const before = await attemptWith(task.gains, 'exciting with the gains in force');
  const nothing = { before: measuredOf(before), proposed: null, predicted: null };
  let latest = before;
  for (let count = 1; count <= ADJUSTMENTS && !latest.isUsable; count += 1) {
    const gains = within(scaled(latest.gains, CALMER));
    if (sameGains(gains, latest.gains)) break;
    latest = await attemptWith(gains, `too lively: calmed ${times(count)}`);
  }
  for (let count = 1; count <= ADJUSTMENTS && latest.isUsable && movement(latest.run) < MOVES; count += 1) {
    const words = `too weak: strengthened ${times(count)}`;
    const gains = within(scaled(latest.gains, LIVELIER));
    if (sameGains(gains, latest.gains)) break;
    const livelier = await attemptWith(gains, words);
    if (!livelier.isUsable) break;
    latest = livelier;
  }
  if (!latest.isUsable || movement(latest.run) < MOVES) {
    const does = latest.isUsable ? 'hardly moves' : 'swings';
    return { ...nothing, state: 'failed', why: `the loop ${does}, whatever its gains` };
  }

  const usable = [latest];
  let best: Attempt | null = before.isUsable ? before : null;
  let predicted: TuneResult['predicted'] = null;
  let wild: Gains | null = null;
  let slowestS = 0;
  for (let round = 1; round <= ROUNDS; round += 1) {
    const leftS = port.secondsLeft();
    // A slow board may have no time for another round.
    if (best !== null && leftS < SPARE * slowestS) break;
    port.progress('computing');
    const runs = usable.map(one => one.run);
    const tooFar = (latest.figures.overshootPercent ?? 0) > FAR && usable.length > 1;
    const proposal = await port.propose({ shape, runs, style });
    port.progress(`fit ${proposal.predicted.fitPercent.toFixed(1)} %`);
    const isKnown = latest.figures.end === 'settled' && !tooFar && wild === null;
    if (isKnown && proposal.cost > WORTH_TRYING * proposal.costNow) break;
    const off = wild ?? (tooFar ? latest.gains : null);
    const surprise = wild ? 'swings' : 'overshoots';
    const gains = within(off === null ? proposal.gains : scaled(off, MILDER));
    // At a bound of the configuration.
    if (sameGains(gains, off ?? latest.gains)) break;
    const words = off === null ? `trying proposal ${round}` : `${surprise} more than predicted: milder`;
    const tried = await attemptWith(gains, words);
    slowestS = Math.max(slowestS, leftS - port.secondsLeft());
    wild = tried.isUsable ? null : tried.gains;
    if (!tried.isUsable) continue;
    usable.push(tried);
    latest = tried;
    if (tried.figures.end === 'settled' && (best === null || scoreOf(shape, tried) < scoreOf(shape, best))) {
      best = tried;
      // The prediction does not belong to the gentler gains that were tried instead of the proposal.
      predicted = off === null ? proposal.predicted : null;
    }
  }
  if (best === null) return { ...nothing, state: 'failed', why: 'no proposal was calm enough' };
  if (best === before) return { ...nothing, state: 'good', why: 'the gains in force are as good' };
  const proposed = measuredOf(best);
  return { ...nothing, state: 'better', proposed, predicted, why: 'measured in a trial of its own' };
}

function measuredOf({ gains, figures, steps }: Measured): Measured {
  return { gains, figures, steps };
}

function scoreOf(shape: LoopShape, { figures, run }: Attempt): number {
  const { from = 0, to = 0, measured = [] } = run.halves.at(-1) ?? {};
  const unsettledS = 2 * measured.length * run.decimation * shape.periodS;
  return stepScore(figures, { size: to - from, unsettledS });
}

function times(count: number): string {
  return ['once', 'twice', 'three times', 'four times'][count - 1] ?? `${count} times`;
}
