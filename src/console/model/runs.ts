import { effect, type ReadonlySignal, signal } from '@preact/signals';
import { sameGains, type UnitName } from '../../core/units.js';
import type { RememberedStep, StepSummary } from '../../schemas/step.js';
import type { Tune } from '../../schemas/tune.js';
import { Part, type Whole } from './whole.js';

/** What a tuning found for one loop, with the id of the tuning. */
export type TunedLoop = Tune['results'][number] & { readonly id: string | undefined };

/** The names of the colours of the runs below the main run. More curves could not be told apart. */
export const RUN_COLOURS = ['run-1', 'run-2', 'run-3', 'run-4', 'run-5'] as const;
type RunColour = (typeof RUN_COLOURS)[number];

export interface DrawnRun {
  readonly step: RememberedStep;
  readonly colour: RunColour;
}

/** The captured steps of the chosen loop, and which of them are drawn. */
export class Runs extends Part {
  /** Newest first. */
  readonly list = signal<readonly StepSummary[]>([]);
  /** The number of the best run so far. */
  readonly best = signal<number | undefined>(undefined);
  /**
   * The runs that the person ticked, by number, oldest first. They are drawn below the main run, each in its colour.
   */
  readonly ticked = signal<ReadonlyMap<number, RunColour>>(new Map());
  readonly samples = signal<ReadonlyMap<number, RememberedStep>>(new Map());
  readonly #tuned: ReadonlySignal<TunedLoop | undefined>;
  /** The tuning whose proposal is no longer the main run. */
  readonly #leftBehind = signal<string | undefined>(undefined);
  #looking = false;
  #news = false;

  constructor(whole: Whole, tuned: ReadonlySignal<TunedLoop | undefined>) {
    super(whole);
    const { choice } = whole;
    this.#tuned = tuned;
    let isBegun = false;
    effect(() => {
      tuned.value;
      choice.value;
      if (isBegun) void this.look();
      isBegun = true;
    });
    effect(() => {
      choice.value;
      this.list.value = [];
      this.best.value = undefined;
      this.ticked.value = new Map();
      this.samples.value = new Map();
    });
  }

  /**
   * Call this when test steps begin after a tuning. The newest run then becomes the main run, instead of the
   * tuning's proposal.
   */
  leaveProposal(): void {
    this.#leftBehind.value = this.#tuned.peek()?.id;
  }

  /** The tuning whose proposal is the main run. */
  get proposal(): TunedLoop | undefined {
    const tune = this.#tuned.value;
    return tune?.id === this.#leftBehind.value ? undefined : tune;
  }

  /**
   * The main run: the newest, or the one that a tuning proposes, or the newest of several ticked ones. Until its samples have
   * arrived, the newest run that has samples.
   */
  get main(): RememberedStep | undefined {
    return [this.#main, ...this.list.value].map(run => this.#sampled(run)).find(run => run !== undefined);
  }

  /** The runs drawn below the main run: the other ticked ones, or the newest run with the previous gains. */
  get under(): readonly DrawnRun[] {
    return this.#underneath.flatMap(run => {
      const [step, colour = RUN_COLOURS[0]] = [this.#sampled(run), this.ticked.value.get(run.number)];
      return step === undefined ? [] : [{ step, colour }];
    });
  }

  tick(number: number): void {
    const ticked = new Map(this.ticked.value);
    const [oldest] = ticked.keys();
    if (!ticked.delete(number)) {
      if (ticked.size === RUN_COLOURS.length && oldest !== undefined) ticked.delete(oldest);
      const used = [...ticked.values()];
      ticked.set(number, RUN_COLOURS.find(colour => !used.includes(colour)) ?? RUN_COLOURS[0]);
    }
    this.ticked.value = ticked;
    void this.#fetch();
  }

  /** Fetches new steps. Fetches again if this is called during the fetch. */
  async look(): Promise<void> {
    this.#news = true;
    if (this.#looking) return;
    this.#looking = true;
    while (this.#news) {
      this.#news = false;
      const choice = this.whole.choice.peek();
      const steps = `/api/${choice.unit}/steps`;
      const outcome = await this.whole.daemon.get<readonly StepSummary[]>(`${steps}?loop=${choice.loop}`);
      if ('body' in outcome && this.whole.choice.peek() === choice) this.list.value = outcome.body;
      if (this.list.peek().length === 0) continue;
      const best = await this.whole.daemon.get<readonly StepSummary[]>(`${steps}/best?loop=${choice.loop}`);
      if ('body' in best && this.whole.choice.peek() === choice) this.best.value = best.body[0]?.number;
      await this.#fetch();
    }
    this.#looking = false;
  }

  get #main(): StepSummary | undefined {
    const proposed = this.proposal?.proposed;
    const ticked = this.ticked.value;
    if (ticked.size > 1) return this.list.value.find(run => ticked.has(run.number));
    return (proposed && this.#of(proposed)) ?? this.list.value[0];
  }

  get #underneath(): readonly StepSummary[] {
    const main = this.#main;
    const ticked = this.ticked.value;
    if (main === undefined) return [];
    if (ticked.size > 0) return this.list.value.filter(run => ticked.has(run.number) && run !== main);
    const began = this.proposal?.before;
    const before = this.list.value.find(run => !sameGains(run.gains, main.gains));
    const under = (began && !sameGains(began.gains, main.gains) && this.#of(began)) || before;
    return under === undefined ? [] : [under];
  }

  /** The run whose figures the tuning reports. If it is not kept any more, the newest one with these gains. */
  #of({ gains, figures }: NonNullable<Tune['before']>): StepSummary | undefined {
    const runs = this.list.value.filter(run => sameGains(run.gains, gains));
    return runs.find(run => run.figures.peak === figures.peak) ?? runs[0];
  }

  async #fetch(): Promise<void> {
    const choice = this.whole.choice.peek();
    const { unit, loop } = choice;
    const main = this.#main;
    for (const run of [...(main === undefined ? [] : [main]), ...this.#underneath]) {
      if (this.#sampled(run) !== undefined) continue;
      const outcome = await this.whole.daemon.get<RememberedStep>(stepPath(unit, loop, run.number));
      if (this.whole.choice.peek() !== choice) return;
      if ('body' in outcome) this.samples.value = new Map(this.samples.peek()).set(run.number, outcome.body);
    }
  }

  #sampled(run: StepSummary | undefined): RememberedStep | undefined {
    const known = run && this.samples.value.get(run.number);
    // A daemon that lost its latest steps reuses their numbers, so the times are compared too.
    return known?.at === run?.at ? known : undefined;
  }
}

export const stepPath = (unit: UnitName, loop: string, number: number) =>
  `/api/${unit}/step?loop=${loop}&number=${number}`;
