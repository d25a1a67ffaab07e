import { isGains, isObject } from '../core/json.js';
import type { Gains, UnitName } from '../core/units.js';
import type { RememberedStep } from '../schemas/step.js';
import { StateFile, type StateParts, type WorkQueue } from '../storage/state-file.js';
import { adopted, thinned } from './kept-steps.js';

/** The longest wait for a write. A failed write is retried. */
const WRITE_MS = 2000;

/** The remembered steps of one loop, and their file. Steps captured before the file was read come after those of the file. */
export class LoopSteps {
  readonly #file: StateFile<readonly RememberedStep[]>;
  readonly #onRead: () => void;
  #steps: readonly RememberedStep[] = [];
  #isRead = false;
  #isWritten = true;

  /** `onRead` is called when the file was read. */
  constructor(parts: StateParts, queue: WorkQueue, unit: UnitName, loop: string, onRead: () => void) {
    this.#onRead = onRead;
    this.#file = new StateFile<readonly RememberedStep[]>(
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

  add(step: Omit<RememberedStep, 'number'>): void {
    const number = (this.#steps.at(-1)?.number ?? 0) + 1;
    this.#steps = thinned([...this.#steps, { number, ...step }]);
    this.#isWritten = false;
  }

  /** Gains that were on trial became this revision. */
  adopt(revision: number, gains: Gains | undefined): boolean {
    const before = this.#steps;
    this.#steps = adopted(before, revision, gains);
    const isChanged = this.#steps !== before;
    if (isChanged) this.#isWritten = false;
    return isChanged;
  }

  /** Never rejects. A failed read is repeated before the next write. */
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
    this.#onRead();
  }
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
