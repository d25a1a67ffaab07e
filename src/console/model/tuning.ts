import { signal } from '@preact/signals';
import type { Status } from '../../core/status.js';
import type { Tune } from '../../core/tune.js';
import type { Style } from '../../core/tuning-terms.js';
import { type Gains, perUnit, UNIT_LIST, type UnitName, unitNamed } from '../../core/units.js';
import type { Daemon } from '../daemon/daemon.js';
import { Act } from '../parts/act.js';
import { Lease } from './lease.js';
import type { LoopChoice } from './loop-choice.js';

interface TuningOptions {
  readonly daemon: Daemon;
  /**
   * Shows the loop, and brings its unit into debug mode unless it is there. Where it `goesOn` from another loop, the unit
   * must be heard to be there still: whoever took it elsewhere may have his hands in it.
   */
  readonly prepare: (choice: LoopChoice, goesOn: boolean) => Promise<boolean>;
  /** An ordinary save of one loop. */
  readonly save: (choice: LoopChoice, gains: Gains) => Promise<boolean>;
}

/** Tunings of loops: those under way, whoever began them, and the last of each unit. */
export class Tuning {
  readonly tunes = perUnit(() => signal<Tune | undefined>(undefined));
  readonly style = signal<Style>('normal');
  /** The tuning whose result somebody put away. */
  readonly dismissed = signal('');
  readonly act = new Act('Tuning');
  /** The loops that a tuning of all loops has still to come to. It goes on only while the list is the one that it set. */
  readonly plan = signal<readonly LoopChoice[]>([]);
  /** What came of the loops that a tuning of all loops has ended. */
  readonly ended = signal<readonly Tune[]>([]);
  readonly #options: TuningOptions;
  readonly #lease = new Lease();
  /** What waits for the end of the tuning that this page holds. */
  #waits: { readonly id: string; readonly unit: UnitName; readonly end: (tune?: Tune) => void } | undefined;

  constructor(options: TuningOptions) {
    this.#options = options;
  }

  get running(): Tune | undefined {
    return Object.values(this.tunes)
      .map(({ value }) => value)
      .find(tune => tune?.state === 'running');
  }

  /** A tuning runs, or the next loop of a tuning of all loops is about to be tuned. */
  get isUnderWay(): boolean {
    return this.running !== undefined || this.plan.value.length > 0;
  }

  /** Learns what began, or ended, while this page did not listen. A unit is tuned in debug mode. */
  async look(status: Status): Promise<void> {
    for (const { name } of UNIT_LIST) {
      if (status[name].mode !== 'debug' && this.tunes[name].peek()?.state !== 'running') continue;
      await this.#learn(name);
    }
  }

  take(tune: Tune): void {
    // A daemon of another version may have more units.
    if (!(tune.unit in this.tunes)) return;
    this.tunes[tune.unit].value = tune;
    if (this.#waits?.unit !== tune.unit) return;
    const { id, end } = this.#waits;
    if (id === tune.id && tune.state === 'running') return;
    this.#lease.drop();
    this.#waits = undefined;
    // A unit has one tuning at a time: that of another id shows that the one held here has ended.
    end(id === tune.id ? tune : undefined);
  }

  /** The tuning's end; undefined where it did not begin, or its end is not known. */
  async tune(choice: LoopChoice, goesOn = false): Promise<Tune | undefined> {
    const { unit, loop } = choice;
    const { daemon, prepare } = this.#options;
    const wanted = { loop, style: this.style.peek(), leaseS: Lease.leaseS };
    const plan = this.plan.peek();
    if (!(await prepare(choice, goesOn)) || this.plan.peek() !== plan) return undefined;
    let begun: Tune | undefined;
    await this.act.run('tune', async () => {
      const outcome = await daemon.tune(unit, wanted);
      if ('body' in outcome) begun = outcome.body;
      return outcome;
    });
    if (begun === undefined) return undefined;
    const { id } = begun;
    const over = new Promise<Tune | undefined>(end => {
      this.#waits = { id, unit, end };
    });
    this.take(begun);
    this.#lease.hold(async () => {
      const outcome = await daemon.tune(unit, { ...wanted, id });
      // Its end was sent while nobody listened.
      if ('refusal' in outcome && outcome.refusal.code === 'trial-ended') await this.#learn(unit);
    });
    return over;
  }

  /** The unit's loops from the inside out. An outer loop stands on its inner ones, so what is better is saved before. */
  async tuneAll(unit: UnitName): Promise<void> {
    const loops = insideOut(unit);
    this.ended.value = [];
    for (const [index, choice] of loops.entries()) {
      const left = loops.slice(index + 1);
      this.plan.value = left;
      const tune = await this.tune(choice, index > 0);
      const isOver = tune !== undefined && tune.state !== 'aborted';
      if (isOver) this.ended.value = [...this.ended.value, tune];
      // Somebody has broken it off, and may have begun another.
      if (this.plan.peek() !== left) return;
      if (!isOver) break;
      const gains = tune.state === 'better' ? tune.proposed?.gains : undefined;
      const isKept = gains === undefined || (await this.#options.save(choice, gains));
      if (this.plan.peek() !== left) return;
      if (!isKept) break;
    }
    this.breakOff();
  }

  /** No further loop is begun, and what the one under way finds is not saved, whatever becomes of it. */
  breakOff(): void {
    this.plan.value = [];
  }

  end(unit: UnitName): void {
    this.breakOff();
    void this.act.run('end', () => this.#options.daemon.endTune(unit));
  }

  /** Asks how the unit's last tuning stands. A daemon that was started anew knows of none, and goes on with none. */
  async #learn(unit: UnitName): Promise<void> {
    const known = this.tunes[unit].peek();
    const outcome = await this.#options.daemon.lastTune(unit);
    // What was heard meanwhile is newer than this answer.
    if ('refusal' in outcome || this.tunes[unit].peek() !== known) return;
    const { tune } = outcome.body;
    const wasRunning = known?.state === 'running';
    // Whoever did not hear the end may not have heard of a stop either, and of its end.
    if (wasRunning && tune?.state !== 'running') this.breakOff();
    if (wasRunning && tune?.id !== known.id) {
      this.take({ ...known, state: 'aborted', why: 'the daemon does not know it any more' });
    }
    if (tune !== null && (wasRunning || tune.state === 'running')) this.take(tune);
  }
}

/** A loop comes after the one that its output goes to. */
function insideOut(unit: UnitName): LoopChoice[] {
  const { loops } = unitNamed(unit);
  const depthOf = (name: string): number => {
    const inner = loops.find(loop => loop.name === name)?.inner;
    return inner === undefined ? 0 : 1 + depthOf(inner);
  };
  return loops
    .map(({ name }) => ({ unit, loop: name }))
    .sort((one, other) => depthOf(one.loop) - depthOf(other.loop));
}
