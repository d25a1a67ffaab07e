import { signal } from '@preact/signals';
import type { GainSet, Unit } from '../../core/units.js';
import type { Daemon } from '../daemon/daemon.js';
import { Act } from '../parts/act.js';
import { Lease } from './lease.js';

/** Gains of one unit that this page tries: the controller runs them for as long as this page asks, and nothing is saved. */
export class Trial {
  readonly act: Act;
  /** Of the trial that this page holds. */
  readonly id = signal<string | undefined>(undefined);
  readonly #unit: Unit;
  readonly #daemon: Daemon;
  readonly #lease = new Lease();

  constructor(unit: Unit, daemon: Daemon) {
    this.#unit = unit;
    this.#daemon = daemon;
    this.act = new Act(`${unit.title} trial`);
  }

  begin(gains: GainSet): Promise<boolean> {
    const ask = (id?: string) => this.#daemon.tryGains(this.#unit.name, { gains, leaseS: Lease.leaseS, id });
    return this.act.run(
      'try',
      async () => {
        const id = this.id.peek();
        this.#lease.drop();
        const changed = await ask(id);
        const isOver = 'refusal' in changed && changed.refusal.code === 'trial-ended';
        const outcome = isOver ? await ask() : changed;
        if ('body' in outcome) this.#hold(outcome.body.id, ask);
        else this.drop();
        return outcome;
      },
      'Tried, not saved: it ends with this page.',
    );
  }

  async end(): Promise<void> {
    this.drop();
    await this.act.run('undo', () => this.#daemon.endTrial(this.#unit.name), 'The saved gains run again.');
  }

  /** This page asks no more; what ended the trial is known elsewhere. */
  drop(): void {
    this.#lease.drop();
    this.id.value = undefined;
  }

  #hold(id: string, ask: (id: string) => ReturnType<Daemon['tryGains']>): void {
    this.id.value = id;
    this.#lease.hold(async () => {
      const outcome = await ask(id);
      const lasts = 'body' in outcome || outcome.refusal.code !== 'trial-ended';
      if (lasts || this.id.peek() !== id) return;
      this.drop();
      this.act.refuse(outcome.refusal);
    });
  }
}
