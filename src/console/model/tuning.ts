import { effect, signal } from '@preact/signals';
import type { Clock, Timer } from '../../core/clock.js';
import type { Style } from '../../core/tuning-terms.js';
import { perUnit, UNIT_LIST, type UnitName, unitNamed } from '../../core/units.js';
import type { Status } from '../../schemas/status.js';
import type { Tune } from '../../schemas/tune.js';
import type { DaemonClient } from '../daemon/daemon.js';
import { isUnanswered } from '../daemon/request.js';
import { Action } from './action.js';
import type { GainEdits } from './gain-edits.js';
import { type LoopChoice, loopOf } from './loop-choice.js';
import type { Model } from './model.js';
import { LEASE_S, TrialRenewal } from './own-trial.js';

interface TuningOptions {
  readonly daemon: DaemonClient;
  readonly clock: Clock;
  /** Shows the loop, and brings its unit into debug mode unless it is there. */
  readonly prepare: (choice: LoopChoice) => Promise<boolean>;
}

const RETRY_MS = 1000;
/** An end that a renewal finds is heard from the stream within this time, if it is heard at all. */
const LATE_MS = 750;
export const NO_CONTACT = 'this page had no contact when a loop ended';

/** Tunings of loops: those under way, whoever began them, and the last of each unit. */
export class Tuning {
  readonly tunes = perUnit(() => signal<Tune | undefined>(undefined));
  readonly style = signal<Style>('normal');
  /** The tuning whose result somebody put away. */
  readonly dismissed = signal('');
  readonly action: Action;
  /**
   * The loops of a tuning of all loops that have not ended, the one that runs or comes next first. It goes on only while
   * the list is the one that it set.
   */
  readonly plan = signal<readonly LoopChoice[]>([]);
  /** What came of the loops that a tuning of all loops has ended. */
  readonly ended = signal<readonly Tune[]>([]);
  /** The unit whose loops are all tuned, one after the other, until what the last one found is saved. */
  readonly allOf = signal<UnitName | undefined>(undefined);
  /** Why a tuning of all loops did not come to its end. */
  readonly brokenOffBy = signal('');
  readonly #options: TuningOptions;
  readonly #renewal: TrialRenewal;
  /** By unit: when to ask again how its last tuning stands. */
  readonly #retries: Record<UnitName, Timer | undefined> = perUnit((): Timer | undefined => undefined);
  /** What waits for the end of the tuning that this page holds. */
  #waits: { readonly id: string; readonly unit: UnitName; readonly end: (tune?: Tune) => void } | undefined;

  constructor(options: TuningOptions) {
    this.#options = options;
    this.action = new Action(options.clock, 'Tuning');
    this.#renewal = new TrialRenewal(options.clock);
  }

  get running(): Tune | undefined {
    return Object.values(this.tunes)
      .map(({ value }) => value)
      .find(tune => tune?.state === 'running');
  }

  /** A tuning runs, or the next loop of a tuning of all loops is about to be tuned. */
  get isUnderWay(): boolean {
    return this.running !== undefined || this.allOf.value !== undefined;
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
    this.#renewal.stop();
    this.#waits = undefined;
    // A unit has one tuning at a time: that of another id shows that the one held here has ended.
    end(id === tune.id ? tune : undefined);
  }

  /** The tuning's end; undefined where it did not begin, or its end is not known. */
  async tune(choice: LoopChoice): Promise<Tune | undefined> {
    const { unit, loop } = choice;
    const { daemon, clock, prepare } = this.#options;
    const wanted = { loop, style: this.style.peek(), leaseS: LEASE_S };
    const plan = this.plan.peek();
    if (!(await prepare(choice)) || this.plan.peek() !== plan) return undefined;
    let begun: Tune | undefined;
    await this.action.run('tune', async () => {
      const outcome = await daemon.tune(unit, wanted);
      if ('body' in outcome) begun = outcome.body;
      return outcome;
    });
    if (begun === undefined) return undefined;
    if (this.plan.peek() !== plan) {
      void daemon.endTune(unit);
      return undefined;
    }
    const { id } = begun;
    const over = new Promise<Tune | undefined>(end => {
      this.#waits = { id, unit, end };
    });
    this.take(begun);
    let refusedMs: number | undefined;
    this.#renewal.start(async () => {
      const outcome = await daemon.tune(unit, { ...wanted, id });
      if ('body' in outcome || outcome.refusal.code !== 'trial-ended') return;
      // The stream is about to say so, or it said so while nobody listened.
      refusedMs ??= clock.nowMs();
      if (clock.nowMs() - refusedMs > LATE_MS) await this.#learn(unit);
    });
    return over;
  }

  /** No further loop is begun, and what the one under way finds is not saved, whatever becomes of it. */
  breakOff(why: string, unit = this.allOf.peek()): void {
    if (unit === undefined || unit !== this.allOf.peek()) return;
    this.brokenOffBy.value = why;
    this.allOf.value = undefined;
    this.plan.value = [];
  }

  end(unit: UnitName): void {
    this.breakOff('End was pressed', unit);
    void this.action.run('end', () => this.#options.daemon.endTune(unit));
  }

  /** Asks how the unit's last tuning stands. A daemon that was started anew knows of none, and goes on with none. */
  async #learn(unit: UnitName): Promise<void> {
    const known = this.tunes[unit].peek();
    const outcome = await this.#options.daemon.lastTune(unit);
    this.#retries[unit]?.cancel();
    // A tuning that is over would hide the waves and trials of its unit for ever.
    if ('refusal' in outcome && isUnanswered(outcome.refusal))
      this.#retries[unit] = this.#options.clock.after(RETRY_MS, () => void this.#learn(unit));
    // What was heard meanwhile is newer than this answer.
    if ('refusal' in outcome || this.tunes[unit].peek() !== known) return;
    const { tune } = outcome.body;
    const wasRunning = known?.state === 'running';
    // Whoever did not hear the end may not have heard of a stop either, and of its end.
    if (wasRunning && tune?.state !== 'running') this.breakOff(NO_CONTACT, unit);
    if (wasRunning && tune?.id !== known.id) {
      this.take({ ...known, state: 'aborted', why: 'the daemon does not know it any more' });
    }
    if (tune !== null && (wasRunning || tune.state === 'running')) this.take(tune);
  }
}

/** Tunes a unit's loops from the inside out. An outer loop stands on its inner ones, so what is better is saved before. */
export async function tuneAll(model: Model, unit: UnitName): Promise<void> {
  const { tuning, fresh } = model;
  tuning.ended.value = [];
  tuning.brokenOffBy.value = '';
  tuning.allOf.value = unit;
  const forget = effect(() => {
    // After a loop somebody may have stopped the robot and resumed it, and have his hands in it.
    const isBetween = tuning.ended.value.length > 0 && tuning.tunes[unit].value?.state !== 'running';
    if (isBetween && !fresh.value) tuning.breakOff(NO_CONTACT);
  });
  await tuneEach(model, unit, insideOut(unit));
  forget();
}

async function tuneEach(model: Model, unit: UnitName, loops: readonly LoopChoice[]): Promise<void> {
  const { tuning, status } = model;
  const gains = model.gains[unit];
  for (const [index, choice] of loops.entries()) {
    const { title } = loopOf(choice);
    const plan = loops.slice(index);
    const left = loops.slice(index + 1);
    const before = JSON.stringify(gains.stored.peek()?.gains[choice.loop]);
    tuning.plan.value = plan;
    if (index > 0 && status.peek()?.[unit].mode !== 'debug')
      return tuning.breakOff(`the ${unit} was no longer in debug mode`);
    const tune = await tuning.tune(choice);
    const isOver = tune !== undefined && tune.state !== 'aborted';
    if (isOver) tuning.ended.value = [...tuning.ended.value, tune];
    // Somebody has broken it off, and may have begun another.
    if (tuning.plan.peek() !== plan) return;
    if (!isOver) return tuning.breakOff(`${title} was not tuned to its end`);
    tuning.plan.value = left;
    const better = tune.state === 'better' ? tune.proposed?.gains : undefined;
    if (better === undefined) continue;
    await endOfSaving(gains);
    if (tuning.plan.peek() !== left) return;
    if (JSON.stringify(gains.stored.peek()?.gains[choice.loop]) !== before)
      return tuning.breakOff(`other gains of ${title} were saved meanwhile`);
    const isKept = await gains.saveLoop(choice.loop, better);
    if (tuning.plan.peek() !== left) return;
    if (!isKept) return tuning.breakOff(`the gains of ${title} could not be saved`);
  }
  tuning.allOf.value = undefined;
}

/** Whoever is at this page may be saving what they edited just as a loop ends. */
async function endOfSaving({ saving }: GainEdits): Promise<void> {
  let forget = () => {};
  await new Promise<void>(resolve => {
    forget = saving.pending.subscribe(what => {
      if (what === undefined) resolve();
    });
  });
  forget();
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
