import { join } from 'node:path';
import { type Clock, endedWithin, type Timer } from '../core/clock.js';
import { Listeners } from '../core/listeners.js';
import { controllerOf } from '../core/loop-controllers.js';
import { type GainSet, UNIT_LIST, type UnitName, unitNamed } from '../core/units.js';
import type { SavedGains } from '../gains/gains-store.js';
import type { Robot } from '../robot/robot.js';
import type { StepCapture } from '../robot/step-reader.js';
import type { MeasuredStep, RememberedStep, Step, StepSummary } from '../schemas/step.js';
import { damagedCopy } from '../storage/damaged-copy.js';
import type { Disk } from '../storage/disk.js';
import { replaceFile } from '../storage/durable-file.js';
import { stepFigures } from '../tuning/step-figures.js';
import { bestOf, newestOn, newestWith, thinned } from './kept-steps.js';
import { OutputWatch } from './output-watch.js';
import { stepsIn } from './steps-file.js';

const FOLDER = 'steps';
/** Steps come every second while a loop is excited; the disk is written to more rarely. */
const WRITE_AFTER_MS = 5000;
/** How long reading out a capture may take. */
const READ_OUT_MS = 1000;

/** Nothing that moves depends on older steps, so that a start does not wait long for them. */
const START_MS = 300;

interface Options {
  readonly robot: Robot;
  readonly clock: Clock;
  readonly disk: Disk;
  readonly folder: string;
  /** Called with the path of the copy of a damaged file. */
  readonly setAside: (copy: string) => void;
}

/**
 * The last captured steps of each loop, with the gains that they were measured on: in memory, and some seconds later on
 * the disk. A damaged file is put aside. One that cannot be read or written is tried again with the next step, and none is
 * written before it was read.
 */
export class StepMemory {
  /** Every captured step with its figures, also one that is not remembered. */
  readonly captured = new Listeners<Step>();
  readonly #robot: Robot;
  readonly #clock: Clock;
  readonly #disk: Disk;
  readonly #folder: string;
  readonly #setAside: (copy: string) => void;
  /** The remembered steps by file name, the oldest first. */
  readonly #steps = new Map<string, RememberedStep[]>();
  readonly #unwritten = new Set<string>();
  /** The loop of each file whose older steps are not among these yet. */
  readonly #unread = new Map(
    UNIT_LIST.flatMap(({ name, loops }) => loops.map(loop => [fileOf(name, loop.name), loop.name])),
  );
  readonly #outputs: OutputWatch;
  /** Counts changes of what is remembered. */
  #changes = 0;
  /** The time at which the gains of each unit last changed. */
  readonly #changedMs = new Map<UnitName, number>();
  readonly #ends: (() => void)[];
  #timer: Timer | undefined;
  #writing: Promise<void> = Promise.resolve();

  private constructor(options: Options) {
    const { robot, clock } = options;
    this.#robot = robot;
    this.#clock = clock;
    this.#disk = options.disk;
    this.#folder = join(options.folder, FOLDER);
    this.#setAside = options.setAside;
    this.#outputs = new OutputWatch(robot, clock);
    this.#ends = [
      () => this.#outputs.close(),
      robot.stepped.add(step => this.#take(step)),
      robot.events.add(event => {
        if (event.what !== 'gains' && event.what !== 'gains applied' && !event.what.startsWith('trial'))
          return;
        if ('unit' in event) this.#changedMs.set(event.unit, clock.nowMs());
      }),
    ];
  }

  /**
   * Never rejects. Without its disk it begins anew; from a disk that is too slow it takes the older steps when they
   * come.
   */
  static async open(options: Options): Promise<StepMemory> {
    const memory = new StepMemory(options);
    // What is captured meanwhile is written after the older steps were read.
    memory.#writing = memory.#read();
    await endedWithin(options.clock, START_MS, memory.#writing);
    return memory;
  }

  /** The newest steps first; those of several loops are ordered by the calendar. */
  list(unit: UnitName, loop?: string): readonly StepSummary[] {
    const summaries = this.#of(unit, loop).map(({ samples, ...summary }) => summary);
    summaries.reverse();
    return loop === undefined ? summaries.sort(laterFirst) : summaries;
  }

  /** A number that changes whenever something else may be remembered. */
  get changes(): number {
    return this.#changes;
  }

  /** The best settled step of each loop so far, among those as tall as its newest. */
  best(unit: UnitName, loop?: string): readonly StepSummary[] {
    return loopsOf(unit)
      .filter(name => loop === undefined || name === loop)
      .map(name => bestOf(this.#of(unit, name)))
      .filter(step => step !== undefined)
      .map(({ samples, ...summary }) => summary);
  }

  /** The newest step of each loop that was measured on this revision. */
  measuredOn(unit: UnitName, { revision, gains }: SavedGains): Readonly<Record<string, MeasuredStep>> {
    return this.#measured(unit, loop => newestOn(this.#of(unit, loop), revision, gains[loop]));
  }

  /** The newest step of each loop with these gains, saved or tried. */
  measuredWith(unit: UnitName, gains: GainSet): Readonly<Record<string, MeasuredStep>> {
    return this.#measured(unit, loop => newestWith(this.#of(unit, loop), gains[loop]));
  }

  step(unit: UnitName, loop: string, number: number): RememberedStep | undefined {
    return this.#of(unit, loop).find(step => step.number === number);
  }

  /** Resolves when what is remembered is on the disk, or could not be written. */
  async close(): Promise<void> {
    for (const end of this.#ends) end();
    this.#timer?.cancel();
    await this.#write();
  }

  #of(unit: UnitName, loop: string | undefined): readonly RememberedStep[] {
    return loopsOf(unit)
      .filter(name => loop === undefined || name === loop)
      .flatMap(name => this.#steps.get(fileOf(unit, name)) ?? []);
  }

  #measured(unit: UnitName, stepOf: (loop: string) => RememberedStep | undefined) {
    const measured: Record<string, MeasuredStep> = {};
    for (const loop of loopsOf(unit)) {
      const step = stepOf(loop);
      if (step !== undefined) measured[loop] = { number: step.number, at: step.at, figures: step.figures };
    }
    return measured;
  }

  #take(capture: StepCapture): void {
    const { unit, loop, number, rateHz, decimation, setpoint, measured } = capture;
    const samples = { setpoint, measured };
    const periodS = decimation / rateHz;
    const [oldSetpoint = 0] = setpoint;
    const newSetpoint = setpoint.at(-1) ?? oldSetpoint;
    const figures = stepFigures({
      measured,
      periodS,
      oldSetpoint,
      setpoint: newSetpoint,
      output: this.#outputs.outputOf(capture),
      outputLimits: controllerOf({ unit, name: loop }).outputLimits,
    });
    this.captured.emit({ unit, loop, number, rateHz, decimation, periodS, samples, figures });
    const beganMs = this.#clock.nowMs() - 1000 * periodS * measured.length - READ_OUT_MS;
    const { trial } = this.#robot.units[unit].report();
    const saved = this.#robot.store.current(unit);
    const gains = (trial ?? saved).gains[loop];
    // A step that was measured while the gains changed would show neither set.
    if (gains === undefined || beganMs < (this.#changedMs.get(unit) ?? Number.NEGATIVE_INFINITY)) return;
    const file = fileOf(unit, loop);
    const known = this.#steps.get(file) ?? [];
    const step: RememberedStep = {
      number: (known.at(-1)?.number ?? 0) + 1,
      at: this.#clock.wallTime().toISOString(),
      loop,
      gains: { kp: gains.kp, ki: gains.ki, kd: gains.kd },
      trial: trial !== undefined,
      revision: trial === undefined ? saved.revision : null,
      oldSetpoint,
      setpoint: newSetpoint,
      periodS,
      figures,
      samples,
    };
    this.#steps.set(file, thinned([...known, step]));
    this.#changes += 1;
    this.#unwritten.add(file);
    this.#timer ??= this.#clock.after(WRITE_AFTER_MS, () => {
      this.#timer = undefined;
      void this.#write();
    });
  }

  #write(): Promise<void> {
    const files = [...this.#unwritten];
    this.#unwritten.clear();
    this.#writing = this.#writing.then(async () => {
      for (const file of files) await this.#writeFile(file).catch(() => this.#unwritten.add(file));
    });
    return this.#writing;
  }

  async #writeFile(file: string): Promise<void> {
    await this.#readFile(file);
    const lines = (this.#steps.get(file) ?? []).map(step => Buffer.from(`${JSON.stringify(step)}\n`));
    await replaceFile(this.#disk, join(this.#folder, file), lines);
  }

  async #read(): Promise<void> {
    for (const file of [...this.#unread.keys()]) await this.#readFile(file).catch(() => undefined);
  }

  /** Rejects where it can neither be read nor put aside. */
  async #readFile(file: string): Promise<void> {
    const loop = this.#unread.get(file);
    if (loop === undefined) return;
    const path = join(this.#folder, file);
    await this.#disk.makeFolder(this.#folder);
    const bytes = await this.#disk.read(path);
    const older = bytes === undefined ? [] : stepsIn(bytes, loop);
    if (bytes !== undefined && older === undefined) {
      const copy = damagedCopy(path, bytes);
      await this.#disk.rename(path, copy);
      this.#setAside(copy);
    }
    this.#unread.delete(file);
    const last = older?.at(-1);
    if (older === undefined || last === undefined) return;
    const captured = this.#steps.get(file) ?? [];
    const renumbered = captured.map(step => ({ ...step, number: last.number + step.number }));
    this.#steps.set(file, thinned([...older, ...renumbered]));
    this.#changes += 1;
  }
}

/** All times are written alike, so that their text compares as they do, without the tables of a locale. */
function laterFirst(a: StepSummary, b: StepSummary): number {
  if (a.at === b.at) return 0;
  return a.at < b.at ? 1 : -1;
}

function loopsOf(unit: UnitName): readonly string[] {
  return unitNamed(unit).loops.map(({ name }) => name);
}

function fileOf(unit: UnitName, loop: string): string {
  return `${unit}-${loop}.jsonl`;
}
