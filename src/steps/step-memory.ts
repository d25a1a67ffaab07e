import { join } from 'node:path';
import type { Clock, Timer } from '../core/clock.js';
import type { RememberedStep, StepSummary } from '../core/remembered-step.js';
import { stepFigures } from '../core/step-figures.js';
import { UNIT_LIST, type UnitName } from '../core/units.js';
import type { CapturedStep, Robot } from '../robot/robot.js';
import type { Disk } from '../storage/disk.js';
import { replaceFile } from '../storage/durable-file.js';
import { stepsIn } from './steps-file.js';

const FOLDER = 'steps';
const KEPT = 50;
/** Steps come every second while a loop is excited; the disk is written to more rarely. */
const WRITE_AFTER_MS = 5000;
/** For reading a capture out. */
const READ_OUT_MS = 1000;

/**
 * The last captured steps of each loop, with the gains that they were measured on: in memory, and some seconds later on
 * the disk. A file that cannot be read is put aside, one that cannot be written is tried again with the next step.
 */
export class StepMemory {
  readonly #robot: Robot;
  readonly #clock: Clock;
  readonly #disk: Disk;
  readonly #folder: string;
  /** By file name, the oldest first. */
  readonly #steps = new Map<string, RememberedStep[]>();
  readonly #unwritten = new Set<string>();
  /** When the gains of a unit last became others. */
  readonly #changedMs = new Map<UnitName, number>();
  readonly #ends: (() => void)[];
  #timer: Timer | undefined;
  #writing: Promise<void> = Promise.resolve();

  private constructor(options: { robot: Robot; clock: Clock; disk: Disk; folder: string }) {
    const { robot, clock } = options;
    this.#robot = robot;
    this.#clock = clock;
    this.#disk = options.disk;
    this.#folder = join(options.folder, FOLDER);
    this.#ends = [
      robot.stepped.add(step => this.#take(step)),
      robot.events.add(event => {
        const isChange = event.what === 'gains' || event.what === 'trial' || event.what === 'gains applied';
        if (isChange) this.#changedMs.set(event.unit, clock.nowMs());
      }),
    ];
  }

  /** Never rejects: without its disk it begins anew. */
  static async open(options: {
    robot: Robot;
    clock: Clock;
    disk: Disk;
    folder: string;
  }): Promise<StepMemory> {
    const memory = new StepMemory(options);
    await memory.#read().catch(() => undefined);
    return memory;
  }

  /** Newest first. */
  list(unit: UnitName, loop?: string): readonly StepSummary[] {
    return this.#of(unit, loop)
      .map(({ samples, ...summary }) => summary)
      .sort((a, b) => (a.at < b.at ? 1 : -1));
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
    const loops = UNIT_LIST.find(one => one.name === unit)?.loops ?? [];
    return loops
      .filter(({ name }) => loop === undefined || name === loop)
      .flatMap(({ name }) => this.#steps.get(fileOf(unit, name)) ?? []);
  }

  #take({ unit, capture }: CapturedStep): void {
    const { loop, rateHz, decimation, setpoint, measured } = capture;
    const periodS = decimation / rateHz;
    const beganMs = this.#clock.nowMs() - 1000 * periodS * measured.length - READ_OUT_MS;
    const { trial } = this.#robot.units[unit].state;
    const saved = this.#robot.store.current(unit);
    const gains = (trial ?? saved).gains[loop];
    // Measured with two sets of gains, it would tell of neither.
    if (gains === undefined || beganMs < (this.#changedMs.get(unit) ?? Number.NEGATIVE_INFINITY)) return;
    const [oldSetpoint = 0] = setpoint;
    const newSetpoint = setpoint.at(-1) ?? oldSetpoint;
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
      figures: stepFigures({ measured, periodS, oldSetpoint, setpoint: newSetpoint }),
      samples: { setpoint, measured },
    };
    this.#steps.set(file, [...known, step].slice(-KEPT));
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
      for (const file of files) {
        const lines = (this.#steps.get(file) ?? []).map(step => Buffer.from(`${JSON.stringify(step)}\n`));
        await replaceFile(this.#disk, join(this.#folder, file), lines).catch(() => this.#unwritten.add(file));
      }
    });
    return this.#writing;
  }

  async #read(): Promise<void> {
    await this.#disk.makeFolder(this.#folder);
    for (const { name, loops } of UNIT_LIST) {
      for (const loop of loops) {
        const file = fileOf(name, loop.name);
        const path = join(this.#folder, file);
        const bytes = await this.#disk.read(path);
        if (bytes === undefined) continue;
        const steps = stepsIn(bytes, loop.name);
        if (steps === undefined) await this.#disk.rename(path, `${path}.damaged`);
        else this.#steps.set(file, steps.slice(-KEPT));
      }
    }
  }
}

function fileOf(unit: UnitName, loop: string): string {
  return `${unit}-${loop}.jsonl`;
}
