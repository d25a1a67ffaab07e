import { isGains, isObject } from '../core/json.js';
import { type Gains, sameGains, type UnitName } from '../core/units.js';
import type { WorkQueue } from '../core/work-queue.js';
import type { RememberedStep } from '../schemas/step.js';
import { type StateFile, type StateParts, stateFile } from '../storage/state-file.js';
import { stepScore } from '../tuning/step-figures.js';

/** The longest wait for a write. A failed write is retried. */
const WRITE_MS = 2000;
const KEPT = 50;
/** The number of steps of older revisions that are kept besides the last `KEPT` steps. */
const KEPT_OF_OLDER = 50;
/**
 * Steps are compared only if their heights differ by at most this fraction. A high step meets limits that a
 * low one does not.
 */
const ALIKE = 0.1;

/**
 * The remembered steps of one loop, and their file. Steps captured before the file was read follow those in the file.
 */
export class LoopSteps {
  readonly #file: StateFile<readonly RememberedStep[]>;
  #steps: readonly RememberedStep[] = [];
  #isRead = false;
  #isWritten = true;

  constructor(parts: StateParts, queue: WorkQueue, unit: UnitName, loop: string) {
    this.#file = stateFile<readonly RememberedStep[]>(
      parts,
      {
        name: `${unit}-${loop}.jsonl`,
        encode: steps => steps.map(step => `${JSON.stringify(step)}\n`).join(''),
        decode: text => stepsIn(text, loop),
        absent: [],
      },
      queue,
    );
    this.#file.changed.add(() => this.#takeOlder());
  }

  /** The oldest first. */
  get all(): readonly RememberedStep[] {
    return this.#steps;
  }

  /**
   * The newest step with these gains. If `revision` is given, only steps of that revision count. Gains are
   * compared even then, because a new journal starts again at revision 1.
   */
  newest(gains: Gains | undefined, revision?: number): RememberedStep | undefined {
    return this.#steps.findLast(
      step => (revision === undefined || step.revision === revision) && sameGains(step.gains, gains),
    );
  }

  /** The best settled step of about the newest step's height; undefined if none settled. */
  get best(): RememberedStep | undefined {
    const newest = this.#steps.at(-1);
    if (newest === undefined) return undefined;
    const height = sizeOf(newest);
    const score = (step: RememberedStep) =>
      stepScore(step.figures, { size: sizeOf(step), unsettledS: Number.POSITIVE_INFINITY });
    return this.#steps
      .filter(step => step.figures.end === 'settled' && Math.abs(sizeOf(step) - height) <= ALIKE * height)
      .sort((one, other) => score(one) - score(other))[0];
  }

  add(step: Omit<RememberedStep, 'number'>): void {
    const number = (this.#steps.at(-1)?.number ?? 0) + 1;
    this.#steps = thinned([...this.#steps, { number, ...step }]);
    this.#isWritten = false;
  }

  /**
   * Gives this revision to the steps that were measured while its gains were on trial. Returns whether there
   * were any.
   */
  adopt(revision: number, gains: Gains | undefined): boolean {
    const isTried = (step: RememberedStep) => step.revision === null && sameGains(step.gains, gains);
    if (!this.#steps.some(isTried)) return false;
    this.#steps = this.#steps.map(step => (isTried(step) ? { ...step, revision } : step));
    this.#isWritten = false;
    return true;
  }

  /** Reads the file. Never rejects. A failed read is repeated before the next write. */
  async read(limitMs: number): Promise<void> {
    await this.#file.read(limitMs).catch(() => undefined);
  }

  /** Writes new steps. Writes nothing before the file was read. */
  async write(): Promise<void> {
    if (this.#isWritten) return;
    await this.read(WRITE_MS);
    if (!this.#isRead) return;
    this.#isWritten = true;
    await this.#file.save(this.#steps, WRITE_MS).catch(() => undefined);
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  #takeOlder(): void {
    const older = this.#file.value;
    if (this.#isRead || older === undefined) return;
    this.#isRead = true;
    const last = older.at(-1)?.number ?? 0;
    this.#steps = thinned([...older, ...this.#steps.map(step => ({ ...step, number: last + step.number }))]);
  }
}

/** Keeps the last steps, and the newest step of each older revision for the history. */
function thinned(steps: readonly RememberedStep[]): RememberedStep[] {
  const last = steps.slice(-KEPT);
  const byRevision = new Map<number, RememberedStep>();
  for (const step of steps.slice(0, -KEPT)) {
    if (step.revision !== null) byRevision.set(step.revision, step);
  }
  for (const { revision } of last) byRevision.delete(revision ?? -1);
  return [...[...byRevision.values()].slice(-KEPT_OF_OLDER), ...last];
}

function sizeOf({ oldSetpoint, setpoint }: RememberedStep): number {
  return Math.abs(setpoint - oldSetpoint);
}

/** The steps of a file with one JSON object a line. Throws if a line is no step. */
function stepsIn(text: string, loop: string): RememberedStep[] {
  const steps: unknown[] = text
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line));
  if (steps.every((step): step is RememberedStep => isStep(step, loop))) return steps;
  throw new Error('not steps of this loop');
}

function isStep(value: unknown, loop: string): value is RememberedStep {
  return (
    isObject(value) &&
    value.loop === loop &&
    Number.isSafeInteger(value.number) &&
    typeof value.at === 'string' &&
    typeof value.trial === 'boolean' &&
    (value.revision === null || Number.isSafeInteger(value.revision)) &&
    [value.oldSetpoint, value.setpoint, value.periodS].every(Number.isFinite) &&
    isGains(value.gains) &&
    isObject(value.figures) &&
    isObject(value.samples) &&
    areNumbers(value.samples.setpoint) &&
    areNumbers(value.samples.measured)
  );
}

function areNumbers(value: unknown): boolean {
  return Array.isArray(value) && value.every(Number.isFinite);
}
