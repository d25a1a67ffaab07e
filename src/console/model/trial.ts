import { signal } from '@preact/signals';
import type { GainSet, Unit } from '../../core/units.js';
import type { TrialStatus } from '../../schemas/status.js';
import type { Daemon } from '../daemon/daemon.js';
import { type Outcome, OVERTAKEN } from '../daemon/request.js';
import { Act } from '../parts/act.js';
import { Lease } from './lease.js';

/** Gains of one unit that this page tries: the controller runs them for as long as this page asks, and nothing is saved. */
export class Trial {
  readonly act: Act;
  /** Names the trial that this page holds. */
  readonly id = signal<string | undefined>(undefined);
  readonly #unit: Unit;
  readonly #daemon: Daemon;
  readonly #lease = new Lease();
  /** The request that was made last. The next one waits for it, so that each knows the id. */
  #last: Promise<unknown> = Promise.resolve();
  /** The gains that the lease asks for again and again. */
  #gains: GainSet | undefined;

  constructor(unit: Unit, daemon: Daemon) {
    this.#unit = unit;
    this.#daemon = daemon;
    this.act = new Act(`${unit.title} trial`);
  }

  begin(gains: GainSet): Promise<boolean> {
    const stops = this.#daemon.stops();
    return this.act.run(
      'try',
      () => this.#inTurn(() => this.#begin(gains, stops)),
      'Tried, not saved: it ends with this page.',
    );
  }

  async #begin(gains: GainSet, stops: number): Promise<Outcome<TrialStatus>> {
    if (stops !== this.#daemon.stops()) return { refusal: OVERTAKEN };
    const [id, before] = [this.id.peek(), this.#gains];
    this.#lease.drop();
    const changed = await this.#ask(gains, id);
    const isOver = id !== undefined && 'refusal' in changed && changed.refusal.code === 'trial-ended';
    const outcome = isOver ? await this.#ask(gains) : changed;
    if ('body' in outcome) this.#hold(outcome.body.id, gains);
    else if (id !== undefined && before && !isOver && this.id.peek() === id) this.#hold(id, before);
    else this.drop();
    return outcome;
  }

  async end(): Promise<void> {
    const end = () => {
      this.drop();
      return this.#daemon.endTrial(this.#unit.name);
    };
    await this.act.run('undo', () => this.#inTurn(end), 'The saved gains run again.');
  }

  /** Ends what this page tries, also what it has asked for and is not answered yet. */
  async undo(): Promise<void> {
    await this.#last;
    if (this.id.peek() !== undefined) await this.end();
  }

  /** This page asks no more; what ended the trial is known elsewhere. */
  drop(): void {
    this.#lease.drop();
    this.id.value = undefined;
  }

  #ask(gains: GainSet, id?: string, renews = false): Promise<Outcome<TrialStatus>> {
    return this.#daemon.tryGains(this.#unit.name, { gains, leaseS: Lease.leaseS, id }, renews);
  }

  #inTurn<T>(act: () => Promise<T>): Promise<T> {
    const answer = this.#last.then(act);
    this.#last = answer;
    return answer;
  }

  #hold(id: string, gains: GainSet): void {
    this.id.value = id;
    this.#gains = gains;
    this.#lease.hold(async () => {
      const outcome = await this.#ask(gains, id, true);
      const lasts = 'body' in outcome || outcome.refusal.code !== 'trial-ended';
      if (lasts || this.id.peek() !== id) return;
      this.drop();
      this.act.refuse(outcome.refusal);
    });
  }
}
