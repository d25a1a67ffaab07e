import { join } from 'node:path';
import type { Clock, Timer } from '../core/clock.js';
import { Listeners } from '../core/listeners.js';
import { controllerOf } from '../core/loop-controllers.js';
import { type GainSet, perUnit, sameGains, UNIT_LIST, type UnitName } from '../core/units.js';
import { WorkQueue } from '../core/work-queue.js';
import type { TimedReadings } from '../robot/observed.js';
import type { Robot } from '../robot/robot.js';
import type { StepCapture } from '../robot/robot-event.js';
import type { MeasuredStep, RememberedStep, Step, StepSummary } from '../schemas/step.js';
import type { StateParts } from '../storage/state-file.js';
import { halfPeriodOf } from '../tuning/excited-run.js';
import { stepFigures } from '../tuning/step-figures.js';
import { LoopSteps } from './loop-steps.js';

const FOLDER = 'steps';
/** The pause between writes. Excited loops give a step every second. */
const WRITE_AFTER_MS = 5000;
/** The longest time to read out a capture. */
const READ_OUT_MS = 1000;

/** The longest wait for older steps at a start. */
const START_MS = 300;

/** The last captured steps of each loop, with their gains. Steps are written to the disk a few seconds later. */
export class StepMemory {
  /** Emitted for every captured step, remembered or not. */
  readonly captured = new Listeners<Step>();
  readonly #robot: Robot;
  readonly #clock: Clock;
  readonly #loops: Readonly<Record<UnitName, ReadonlyMap<string, LoopSteps>>>;
  readonly #outputs: ReturnType<typeof watchOutputs>;
  readonly #ends: (() => void)[];
  #timer: Timer | undefined;

  private constructor(robot: Robot, parts: StateParts) {
    const { clock } = parts;
    const inFolder = { ...parts, folder: join(parts.folder, FOLDER) };
    const queue = new WorkQueue();
    this.#robot = robot;
    this.#clock = clock;
    this.#loops = perUnit(
      ({ name: unit, loops }) =>
        new Map(loops.map(({ name }) => [name, new LoopSteps(inFolder, queue, unit, name)])),
    );
    this.#outputs = watchOutputs(robot);
    this.#ends = [
      this.#outputs.end,
      robot.stepped.add(step => this.#take(step)),
      robot.events.add(event => {
        if (event.what === 'save') this.#adopt(event.unit);
      }),
    ];
  }

  /** Reads the files. Never rejects. If the disk is slow, steps of earlier runs are added after this has resolved. */
  static async open(robot: Robot, parts: StateParts): Promise<StepMemory> {
    const memory = new StepMemory(robot, parts);
    await Promise.all(memory.#all.map(loop => loop.read(START_MS)));
    return memory;
  }

  /** The newest first. Steps of several loops are ordered by wall time. */
  list(unit: UnitName, loop?: string): readonly StepSummary[] {
    const steps = this.#loopsOf(unit, loop).flatMap(({ all }) => all);
    const summaries = steps.map(({ samples, ...summary }) => summary).reverse();
    if (loop !== undefined) return summaries;
    // All times have the same format, so comparing their text is enough.
    return summaries.sort((a, b) => Number(a.at < b.at) - Number(a.at > b.at));
  }

  /** The best settled step of each loop, among steps about as high as the newest. */
  best(unit: UnitName, loop?: string): readonly StepSummary[] {
    const steps = this.#loopsOf(unit, loop).map(({ best }) => best);
    return steps.filter(step => step !== undefined).map(({ samples, ...summary }) => summary);
  }

  /**
   * The newest step of each loop with these gains. With `revision`, only steps of that revision count.
   * Without it, steps of saved and of tried gains count.
   */
  measured(
    unit: UnitName,
    { gains, revision }: { readonly gains: GainSet; readonly revision?: number },
  ): Readonly<Record<string, MeasuredStep>> {
    const measured: Record<string, MeasuredStep> = {};
    for (const [loop, steps] of this.#loops[unit]) {
      const step = steps.newest(gains[loop], revision);
      if (step !== undefined) measured[loop] = { number: step.number, at: step.at, figures: step.figures };
    }
    return measured;
  }

  step(unit: UnitName, loop: string, number: number): RememberedStep | undefined {
    return this.#loops[unit].get(loop)?.all.find(step => step.number === number);
  }

  /** Resolves when all steps have been written, or could not be written. */
  async close(): Promise<void> {
    for (const end of this.#ends) end();
    this.#timer?.cancel();
    await this.#write();
    await Promise.all(this.#all.map(loop => loop.close()));
  }

  get #all(): readonly LoopSteps[] {
    return Object.values(this.#loops).flatMap(loops => [...loops.values()]);
  }

  #loopsOf(unit: UnitName, loop: string | undefined): readonly LoopSteps[] {
    const loops = [...this.#loops[unit]];
    return loops.filter(([name]) => loop === undefined || name === loop).map(([, steps]) => steps);
  }

  #take(capture: StepCapture): void {
    const { unit, loop, number, rateHz, decimation, setpoint, measured } = capture;
    const samples = { setpoint, measured };
    const periodS = decimation / rateHz;
    const { from, to } = halfPeriodOf(capture);
    const figures = stepFigures({
      measured,
      periodS,
      oldSetpoint: from,
      setpoint: to,
      output: this.#outputs.outputOf(capture),
      outputLimits: controllerOf({ unit, name: loop }).outputLimits,
    });
    this.captured.emit({ unit, loop, number, rateHz, decimation, periodS, samples, figures });
    const beganMs = this.#clock.nowMs() - 1000 * periodS * measured.length - READ_OUT_MS;
    const { trial, gainsSinceMs } = this.#robot.units[unit];
    const saved = this.#robot.store.find(unit);
    const running = trial ?? saved;
    const gains = running?.gains[loop];
    // A tuning measures the saved gains in a trial too.
    const isSaved =
      saved !== undefined &&
      Object.entries(saved.gains).every(([name, one]) => sameGains(one, running?.gains[name]));
    // A step that began before the last change of gains may have run with both sets, so it is not kept.
    if (gains === undefined || beganMs < gainsSinceMs) return;
    this.#loops[unit].get(loop)?.add({
      at: this.#clock.wallTime().toISOString(),
      loop,
      gains: { kp: gains.kp, ki: gains.ki, kd: gains.kd },
      trial: trial !== undefined,
      revision: isSaved ? saved.revision : null,
      oldSetpoint: from,
      setpoint: to,
      periodS,
      figures,
      samples,
    });
    this.#changed();
  }

  /** Gives the saved revision to the steps that a trial measured with the gains that are now saved. */
  #adopt(unit: UnitName): void {
    const { revision, gains } = this.#robot.store.current(unit);
    for (const [name, steps] of this.#loops[unit]) if (steps.adopt(revision, gains[name])) this.#changed();
  }

  #changed(): void {
    this.#timer ??= this.#clock.after(WRITE_AFTER_MS, () => {
      this.#timer = undefined;
      void this.#write();
    });
  }

  async #write(): Promise<void> {
    await Promise.all(this.#all.map(loop => loop.write()));
  }
}

/** How long readings are kept: the longest half period, and the time to read out its capture. */
const READINGS_MS = 14_000;
/** The fewest readings from which an output is made. */
const FEWEST_READINGS = 20;
/**
 * A reading belongs to an edge if its setpoint differs from the edge's setpoint by less than this fraction of
 * the step's height.
 */
const NEAR = 0.2;

/**
 * Records the outputs of an excited unit's loops from telemetry, because captures have no outputs. Call `end`
 * to stop recording.
 */
function watchOutputs(robot: Robot) {
  const kept = perUnit((): TimedReadings[] => []);
  const end = robot.polled.add(() => {
    for (const { name } of UNIT_LIST) {
      const { telemetry, mode } = robot.units[name];
      const readings = kept[name];
      if (telemetry === undefined || mode !== 'debug') readings.length = 0;
      // A failed poll leaves the previous telemetry, which is not recorded twice.
      else if (readings.at(-1) !== telemetry) {
        readings.push(telemetry);
        if ((readings[0] ?? telemetry).atMs < telemetry.atMs - READINGS_MS) readings.shift();
      }
    }
  });

  /** The output after the capture's edge, poll by poll. Undefined if there are too few polls. */
  const outputOf = (capture: StepCapture): number[] | undefined => {
    const { unit, loop, setpoint, rateHz, decimation } = capture;
    const readings = kept[unit];
    const { from, to } = halfPeriodOf(capture);
    const lengthMs = (1000 * decimation * setpoint.length) / rateHz;
    const lastMs = readings.at(-1)?.atMs ?? 0;
    const isNear = (reading: TimedReadings | undefined, value: number) =>
      Math.abs((reading?.loops[loop]?.setpoint ?? Number.NaN) - value) < NEAR * Math.abs(to - from);
    // The newest edge between these setpoints that has readings for a whole capture after it. The captured edge
    // itself is not needed: the excitation repeats, so all such edges are alike.
    const edge = readings.findLastIndex(
      (reading, index) =>
        reading.atMs + lengthMs <= lastMs && isNear(reading, to) && isNear(readings[index - 1], from),
    );
    const beganMs = readings[edge]?.atMs;
    if (beganMs === undefined) return undefined;
    const output = readings
      .slice(edge)
      .filter(({ atMs }) => atMs < beganMs + lengthMs)
      .map(({ loops }) => loops[loop]?.output ?? Number.NaN);
    return output.length >= FEWEST_READINGS && output.every(Number.isFinite) ? output : undefined;
  };
  return { outputOf, end };
}
