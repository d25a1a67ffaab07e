import { type StepFigures, stepFigures } from '../core/step-figures.js';
import { stepScore } from '../core/step-score.js';
import type { Gains } from '../core/units.js';
import type { Style } from './design.js';
import { type ExcitedRun, edgeOf, type HalfWave } from './excited-run.js';
import type { LoopShape } from './loop-shape.js';
import type { Proposal } from './propose.js';

/** What a tuner needs of the robot. Each act rejects when the robot or somebody ends the tuning. */
export interface TunerPort {
  /** The loop runs these gains when it resolves; they are a trial and nothing is saved. */
  tryGains(gains: Gains): Promise<void>;
  /** Excites the loop that stands still, and lets it come to rest again. */
  excite(wave: WaveRequest): Promise<Recording>;
  /** Fits and designs, somewhere where it keeps nobody waiting. */
  propose(task: ProposalTask): Promise<Proposal>;
  /** In words, for people. */
  progress(words: string): void;
}

export interface WaveRequest {
  readonly amplitude: number;
  readonly periodS: number;
  /** Half waves that are to be recorded. */
  readonly halves: number;
  /** Deviation, beyond that with which it begins, past which the wave is taken away. */
  readonly runaway: number;
  /** After a half wave of which this holds the wave is taken away: nothing more is to be learned from it. */
  readonly rings: (half: HalfWave, decimation: number) => boolean;
}

/** `ranAway`: the guard took the wave away, and the halves before may be there. */
export type Recording = Omit<ExcitedRun, 'gains'> & { readonly ranAway: boolean };

export interface ProposalTask {
  readonly shape: LoopShape;
  readonly runs: readonly ExcitedRun[];
  readonly style: Style;
}

export interface TuneTask {
  readonly shape: LoopShape;
  readonly gains: Gains;
  readonly amplitude: number;
  readonly periodS: number;
  readonly style: Style;
}

export interface TuneResult {
  /** `better`: the proposal was measured and beats what was. `good`: the gains in force are as good. `failed`: no use. */
  readonly end: 'better' | 'good' | 'failed';
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
const ADJUSTMENTS = 4;
const MOVES = 0.25;
const ROUNDS = 5;
/** A second proposal that promises less than this is not worth its time. */
const WORTH_TRYING = 0.95;
/** Percent of overshoot that no fitted plant foretold, since wheels slip for one: then milder gains are tried. */
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
  const { gains, figures } = await attempt(task, port, task.gains, 'measuring');
  return { gains, figures };
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
  const wave = { amplitude, periodS, halves: HALVES, runaway: RUNAWAY_AMPLITUDES * amplitude, rings };
  const { ranAway, ...recording } = await port.excite(wave);
  const run = { ...recording, gains };
  const figures = figuresOf(shape, run);
  const isWild = ranAway || figures.end === 'rings';
  return { gains, figures, run, isUsable: !isWild && run.halves.length > 0 };
}

/** From gains as they are to gains that were measured to be better, or the word that there are none. */
export async function tune(task: TuneTask, port: TunerPort): Promise<TuneResult> {
  const { shape, style } = task;
  const attemptWith = (gains: Gains, words: string) => attempt(task, port, gains, words);

  const before = await attemptWith(task.gains, 'exciting with the gains in force');
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
    return { end: 'failed', before, proposed: null, prediction: null, why };
  }

  const usable = [latest];
  let best: Attempt | null = before.isUsable ? before : null;
  let prediction: Proposal | null = null;
  for (let round = 1; round <= ROUNDS; round += 1) {
    port.progress('computing');
    const runs = usable.map(one => one.run);
    const tooFar = (latest.figures.overshootPercent ?? 0) > FAR && usable.length > 1;
    const proposal = await port.propose({ shape, runs, style });
    port.progress(`fit ${proposal.fit.errorPercent.toFixed(1)} %`);
    const isKnown = latest.figures.end === 'settled' && !tooFar;
    if (isKnown && proposal.design.cost > WORTH_TRYING * proposal.now.cost) break;
    const tried = tooFar
      ? await attemptWith(scaled(latest.gains, MILDER), 'overshoots more than foretold: milder')
      : await attemptWith(proposal.design.gains, `trying proposal ${round}`);
    if (!tried.isUsable) continue;
    usable.push(tried);
    latest = tried;
    if (tried.figures.end === 'settled' && (best === null || scoreOf(shape, tried) < scoreOf(shape, best))) {
      best = tried;
      // What was tried instead of the proposal was not foretold by it.
      prediction = tooFar ? null : proposal;
    }
  }
  if (best === null) {
    const why = 'no proposal was calm enough';
    return { end: 'failed', before, proposed: null, prediction, why };
  }
  if (best === before) {
    return { end: 'good', before, proposed: null, prediction: null, why: 'the gains in force are as good' };
  }
  return { end: 'better', before, proposed: best, prediction, why: 'measured in a trial of its own' };
}

function scoreOf(shape: LoopShape, { figures, run }: Attempt): number {
  const halfS = (run.halves[0]?.measured.length ?? 0) * run.decimation * shape.periodS;
  return stepScore(figures, { size: stepOf(run), unsettledS: 2 * halfS });
}

function stepOf({ halves }: ExcitedRun): number {
  const last = halves.at(-1);
  if (last === undefined) return 0;
  const { from, to } = edgeOf(last);
  return to - from;
}

/** The figures of one that rings, or else of the full step that settles last. */
function figuresOf(shape: LoopShape, run: ExcitedRun): StepFigures {
  const periodS = run.decimation * shape.periodS;
  const all = run.halves.map(half => figuresOfHalf(shape, half, run.decimation));
  const wild = all.find(figures => figures.end === 'rings');
  if (wild !== undefined) return wild;
  const full = all.length > 1 ? all.slice(1) : all;
  const worst = full.sort((a, b) => (b.settlingS ?? 1e9) - (a.settlingS ?? 1e9))[0];
  return worst ?? stepFigures({ measured: [], periodS });
}

function figuresOfHalf(shape: LoopShape, half: HalfWave, decimation: number): StepFigures {
  const { from, to } = edgeOf(half);
  const periodS = decimation * shape.periodS;
  return stepFigures({ measured: half.measured, periodS, oldSetpoint: from, setpoint: to });
}

/** The largest part of a step that was covered. */
function movement({ halves }: ExcitedRun): number {
  return halves.reduce((most, half) => {
    const { from, to } = edgeOf(half);
    const began = half.measured[0] ?? 0;
    const way = half.measured.reduce((far, value) => Math.max(far, Math.abs(value - began)), 0);
    return Math.max(most, way / Math.abs(to - from));
  }, 0);
}

function scaled({ kp, ki, kd }: Gains, by: Gains): Gains {
  const round = (value: number) => Number(value.toPrecision(3));
  return { kp: round(kp * by.kp), ki: round(ki * by.ki), kd: round(kd * by.kd) };
}

function times(count: number): string {
  return ['once', 'twice', 'three times', 'four times'][count - 1] ?? `${count} times`;
}
