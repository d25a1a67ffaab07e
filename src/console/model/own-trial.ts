import { signal } from '@preact/signals';
import { type Clock, every } from '../../core/clock.js';
import type { GainSet, Unit } from '../../core/units.js';
import { WorkQueue } from '../../core/work-queue.js';
import type { TrialStatus } from '../../schemas/status.js';
import { type Ask, replacesNothing } from '../daemon/asks.js';
import type { Outcome, Refusal } from '../daemon/request.js';
import { Action } from './action.js';
import { Part, type Whole } from './whole.js';

/** The lease in seconds: a trial or a tuning ends this long after the page is gone. One lost renewal is tolerated. */
export const LEASE_S = 3;

/** Refusals after which there is nothing to renew. */
const OVER: readonly string[] = ['trial-ended', 'lease-held', 'not-allowed'];

/** A trial, a tuning or a referee's lease that this page renews once a second. */
export class Renewal {
  /** The id of what is renewed; undefined if nothing is. */
  readonly id = signal<string | undefined>(undefined);
  readonly #clock: Clock;
  #end = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `onEnded` is called if the daemon answers that there is nothing left to renew. */
  hold(id: string, renew: () => Promise<Outcome<unknown>>, onEnded: (refusal: Refusal) => unknown): void {
    this.drop();
    this.id.value = id;
    this.#end = every(this.#clock, 1000, async () => {
      const outcome = await renew();
      const isOver = 'refusal' in outcome && OVER.includes(outcome.refusal.code);
      if (!isOver || this.id.peek() !== id) return;
      this.drop();
      onEnded(outcome.refusal);
    });
  }

  pause(): void {
    this.#end();
  }

  /** Stops renewing. */
  drop(): void {
    this.pause();
    this.id.value = undefined;
  }
}

/**
 * The trial of one unit's gains by this page. The controller runs the gains unsaved, as long as the page renews them.
 */
export class OwnTrial extends Part {
  readonly action: Action;
  readonly #unit: Unit;
  readonly #renewal = new Renewal(this.whole.clock);
  /** The requests. Each one waits for the answer to the one before, because that answer contains the trial's id. */
  readonly #requests = new WorkQueue();
  /** The gains of the trial that is renewed. */
  #gains: GainSet | undefined;

  constructor(unit: Unit, whole: Whole) {
    super(whole);
    this.#unit = unit;
    this.action = new Action(whole.clock, `${unit.title} trial`);
  }

  /** The id of the trial that this page renews. */
  get id(): string | undefined {
    return this.#renewal.id.value;
  }

  begin(gains: GainSet): Promise<boolean> {
    const since = this.whole.daemon.asks.presses;
    return this.action.run(
      () => this.#requests.add(() => this.#begin(gains, since)),
      'Running as a trial, not saved. The trial ends when you close this page.',
    );
  }

  async #begin(gains: GainSet, since: number): Promise<Outcome<TrialStatus>> {
    const [id, before] = [this.id, this.#gains];
    this.#renewal.pause();
    const changed = await this.#ask(gains, id, { since });
    const isOver = id !== undefined && 'refusal' in changed && changed.refusal.code === 'trial-ended';
    const outcome = isOver ? await this.#ask(gains, undefined, { since }) : changed;
    if ('body' in outcome) this.#hold(outcome.body.id, gains);
    else if (id !== undefined && before && !isOver && this.id === id) this.#hold(id, before);
    else this.drop();
    return outcome;
  }

  async end(): Promise<void> {
    const end = () => {
      this.drop();
      return this.whole.daemon.delete(`/api/${this.#unit.name}/pidconfig/trial`);
    };
    await this.action.run(() => this.#requests.add(end), 'The saved gains run again.');
  }

  /** Ends the trial, even if its start is still unanswered. */
  async undo(): Promise<void> {
    await this.#requests.add(async () => undefined);
    if (this.id !== undefined) await this.end();
  }

  /** Stops renewing. */
  drop(): void {
    this.#renewal.drop();
  }

  /** Begins a trial, or changes or renews the one with this id. */
  #ask(gains: GainSet, id: string | undefined, options: Pick<Ask, 'since' | 'replaces'>) {
    const path = `/api/${this.#unit.name}/pidconfig/trial`;
    const body = { gains, leaseS: LEASE_S, id };
    return this.whole.daemon.press<TrialStatus>({ path, body, rule: 'moves', ...options });
  }

  #hold(id: string, gains: GainSet): void {
    this.#gains = gains;
    this.#renewal.hold(
      id,
      () => this.#ask(gains, id, { replaces: replacesNothing }),
      refusal => this.action.refuse(refusal),
    );
  }
}
