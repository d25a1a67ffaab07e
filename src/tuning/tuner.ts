import type { Style } from '../core/tuning-terms.js';
import type { Gains } from '../core/units.js';
import type { StepFigures } from '../schemas/step.js';
import type { ExcitedRun, HalfWave } from './excited-run.js';
import type { LoopShape } from './loop-shape.js';
import type { Proposal, ProposalTask } from './propose.js';
import { Ringing } from './ringing.js';
import { figuresOf, figuresOfHalf, movement, stepOf } from './run-figures.js';
import { stepScore } from './step-score.js';

/** The robot as a tuner needs it. Each act rejects when the robot or somebody ends the tuning. */
export interface TunerPort {
  /** Resolves when the loop runs these gains. They are a trial, and nothing is saved. */
  tryGains(gains: Gains): Promise<void>;
  /** Excites the loop that stands still, and lets it come to rest again. */
  excite(wave: WaveRequest): Promise<Recording>;
  /** Fits the plant and designs gains without keeping anything else waiting. */
  propose(task: ProposalTask): Promise<Proposal>;
  /** Says in words for people what the tuner does. */
  progress(words: string): void;
  /** The time that is left; the whole tuning must be over then. */
  secondsLeft(): number;
}

export interface WaveRequest {
  readonly amplitude: number;
  readonly periodS: number;
  /** The number of half waves to be recorded. */
  readonly halves: number;
  /** The deviation, beyond that with which the wave begins, past which it is taken away. */
  readonly runaway: number;
  /** Asked at every reading, from before the wave on. Where it is true, the wave is taken away at once. */
  readonly swingsOn: (atS: number, setpoint: number, measured: number) => boolean;
  /** Asked of every recorded half for the same purpose, since a swing too quick for readings shows there. */
  readonly rings: (half: HalfWave, decimation: number) => boolean;
}

/** A wave that `ran away` or `rings` was taken away early, and the halves before may be there. */
export type Recording = Omit<ExcitedRun, 'gains'> & { readonly end: 'whole' | 'ran away' | 'rings' };

interface TuneTask {
  readonly shape: LoopShape;
  readonly gains: Gains;
  readonly amplitude: number;
  readonly periodS: number;
  readonly style: Style;
}

export interface TuneResult {
  /**
   * `better`: the proposal was measured and is better than the gains in force. `good`: the gains in force are as good.
   * `failed`: there is no usable result.
   */
  readonly state: 'better' | 'good' | 'failed';
  readonly before: Measured;
  readonly proposed: Measured | null;
  readonly prediction: Proposal | null;
  readonly why: string;
}

/** Gains with the figures of their own trial. */
export interface Measured {
  readonly gains: Gains;
  readonly figures: StepFigures;
}

const HALVES = 3;
const RUNAWAY_AMPLITUDES = 3.5;
/**
 * How long a loop may swing by the readings. The swinging that polls miss, and the frames that take the wave away, come
 * on top of it.
 */
const SWINGS_ON_S = 0.7;
/** Polls miss the tops of a quick swing, so one smaller by this factor counts there. */
const SEEN_AT_POLLS = 0.7;
const ADJUSTMENTS = 4;
const MOVES = 0.25;
const ROUNDS = 5;
/** A round may take longer than those before it by this factor, since it has more to fit. */
const SPARE = 1.3;
/** A further proposal is worth its time only where its cost is below this part of the latest gains' cost. */
const WORTH_TRYING = 0.95;
/**
 * Overshoot above this many percent is more than any fitted plant foretells, for example because wheels slip. Milder
 * gains are tried then.
 */
const FAR = 4;
const MILDER = { kp: 0.65, ki: 0.35, kd: 0.65 };
const CALMER = { kp: 0.4, ki: 0.15, kd: 0.4 };
const LIVELIER = { kp: 2.5, ki: 2.5, kd: 1 };

interface Attempt extends Measured {
  readonly run: ExcitedRun;
  readonly isUsable: boolean;
}

/** The figures of the gains in force. */
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
  const rings = (half: HalfWave, decimation: number) =>
    figuresOfHalf(shape, half, decimation).end === 'rings';
  const ringing = new Ringing(SEEN_AT_POLLS * 2 * amplitude);
  const swingsOn = (atS: number, setpoint: number, measured: number) => {
    ringing.add(atS, setpoint, measured);
    return ringing.seconds > SWINGS_ON_S;
  };
  const runaway = RUNAWAY_AMPLITUDES * amplitude;
  const { end, ...recording } = await port.excite({
    amplitude,
    periodS,
    halves: HALVES,
    runaway,
    swingsOn,
    rings,
  });
  const run = { ...recording, gains };
  const recorded = figuresOf(shape, run);
  const figures: StepFigures = end === 'rings' ? { ...recorded, end } : recorded;
  return { gains, figures, run, isUsable: end === 'whole' && run.halves.length > 0 };
}

/** Goes from the gains in force to gains that were measured to be better, or says that there are none. */
export async function tune(task: TuneTask, port: TunerPort): Promise<TuneResult> {
  const { shape, style } = task;
  const attemptWith = (gains: Gains, words: string) => attempt(task, port, gains, words);

  const before = await attemptWith(task.gains, 'exciting with the gains in force');
  const nothing = { before: measuredOf(before), proposed: null, prediction: null };
  let latest = before;
  for (let count = 1; count <= ADJUSTMENTS && !latest.isUsable; count += 1) {
    latest = await attemptWith(scaled(latest.gains, CALMER), `too lively: calmed ${times(count)}`);
  }
  for (let count = 1; count <= ADJUSTMENTS && latest.isUsable && movement(latest.run) < MOVES; count += 1) {
    const livelier = await attemptWith(
      scaled(latest.gains, LIVELIER),
      `too weak: strengthened ${times(count)}`,
    );
    if (!livelier.isUsable) break;
    latest = livelier;
  }
  if (!latest.isUsable || movement(latest.run) < MOVES) {
    const why = latest.isUsable
      ? 'the loop hardly moves, whatever its gains'
      : 'the loop swings, whatever its gains';
    return { ...nothing, state: 'failed', why };
  }

  const usable = [latest];
  let best: Attempt | null = before.isUsable ? before : null;
  let prediction: Proposal | null = null;
  let wild: Gains | null = null;
  let slowestS = 0;
  for (let round = 1; round <= ROUNDS; round += 1) {
    const leftS = port.secondsLeft();
    // On a slow board the best gains so far are worth more than a round that is cut short.
    if (best !== null && leftS < SPARE * slowestS) break;
    port.progress('computing');
    const runs = usable.map(one => one.run);
    const tooFar = (latest.figures.overshootPercent ?? 0) > FAR && usable.length > 1;
    const proposal = await port.propose({ shape, runs, style });
    port.progress(`fit ${proposal.fit.errorPercent.toFixed(1)} %`);
    const isKnown = latest.figures.end === 'settled' && !tooFar && wild === null;
    if (isKnown && proposal.design.cost > WORTH_TRYING * proposal.now.cost) break;
    const off = wild ?? (tooFar ? latest.gains : null);
    const tried: Attempt =
      off === null
        ? await attemptWith(proposal.design.gains, `trying proposal ${round}`)
        : await attemptWith(
            scaled(off, MILDER),
            `${wild ? 'swings' : 'overshoots'} more than foretold: milder`,
          );
    slowestS = Math.max(slowestS, leftS - port.secondsLeft());
    wild = tried.isUsable ? null : tried.gains;
    if (!tried.isUsable) continue;
    usable.push(tried);
    latest = tried;
    if (tried.figures.end === 'settled' && (best === null || scoreOf(shape, tried) < scoreOf(shape, best))) {
      best = tried;
      // The proposal did not foretell what was tried in its place.
      prediction = off === null ? proposal : null;
    }
  }
  if (best === null) return { ...nothing, state: 'failed', why: 'no proposal was calm enough' };
  if (best === before) return { ...nothing, state: 'good', why: 'the gains in force are as good' };
  const proposed = measuredOf(best);
  return { ...nothing, state: 'better', proposed, prediction, why: 'measured in a trial of its own' };
}

function measuredOf({ gains, figures }: Measured): Measured {
  return { gains, figures };
}

function scoreOf(shape: LoopShape, { figures, run }: Attempt): number {
  const halfS = (run.halves[0]?.measured.length ?? 0) * run.decimation * shape.periodS;
  return stepScore(figures, { size: stepOf(run), unsettledS: 2 * halfS });
}

function scaled({ kp, ki, kd }: Gains, by: Gains): Gains {
  const round = (value: number) => Number(value.toPrecision(3));
  return { kp: round(kp * by.kp), ki: round(ki * by.ki), kd: round(kd * by.kd) };
}

function times(count: number): string {
  return ['once', 'twice', 'three times', 'four times'][count - 1] ?? `${count} times`;
}
