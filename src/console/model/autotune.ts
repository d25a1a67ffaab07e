import { signal } from '@preact/signals';
import type { Timer } from '../../core/clock.js';
import { type Style, USUAL_TUNING_PERIODS, withInner } from '../../core/tuning-terms.js';
import { type Loop, perUnit, UNIT_LIST, type Unit, type UnitName, unitNamed } from '../../core/units.js';
import type { Status } from '../../schemas/status.js';
import type { StepFigures } from '../../schemas/step.js';
import type { Tune } from '../../schemas/tune.js';
import { replacesNothing } from '../daemon/asks.js';
import { isUnanswered } from '../daemon/request.js';
import { Action } from './action.js';
import { LEASE_S, Renewal } from './own-trial.js';
import { Part } from './whole.js';

const RETRY_MS = 1000;

/** The seconds that a tuning of these loops usually takes. */
export function usualS(loops: readonly Loop[]): number {
  return USUAL_TUNING_PERIODS * loops.reduce((sum, { excitationPeriodS }) => sum + excitationPeriodS, 0);
}

/**
 * The loops to keep after a tick or untick of one. With a loop goes every loop that was tuned upon it, and with a
 * ticked loop come those that it was tuned upon.
 */
export function toggled(unit: Unit, kept: ReadonlySet<string>, loop: string): ReadonlySet<string> {
  if (!kept.has(loop)) return new Set([...kept, ...withInner(unit, loop)]);
  return new Set([...kept].filter(one => !withInner(unit, one).includes(loop)));
}

/** In what the proposed gains are better than the ones before, and in what they are worse. */
export function reasonOf({ before, proposed }: Pick<Tune['results'][number], 'before' | 'proposed'>): string {
  const [was, is] = [before?.figures, proposed?.figures];
  if (was?.settlingS == null || is?.settlingS == null) return 'settles now';
  /** The figures that are smaller in `a` than in `b`, each as the words after the verb. */
  const words = (a: StepFigures, b: StepFigures, [sooner, less]: readonly [string, string]) => {
    const isLess = (name: 'settlingS' | 'iae') => (a[name] ?? 0) < 0.98 * (b[name] ?? 0);
    return [
      isLess('settlingS') && `settles ${sooner}`,
      (a.overshootPercent ?? 0) < (b.overshootPercent ?? 0) - 0.5 && `overshoots ${less}`,
      isLess('iae') && `has ${less} error over the whole step`,
    ].filter(Boolean);
  };
  const better = words(is, was, ['sooner', 'less']).join(', ') || 'better in sum';
  const worse = words(was, is, ['later', 'more']).join(' and ');
  return better + (worse && `, but ${worse}`);
}

/** The number of loops that are done and left, and about how long they take. */
export function leftText({ unit, loops, results }: Pick<Tune, 'unit' | 'loops' | 'results'>): string {
  const left = loops.slice(results.length);
  const tuned = unitNamed(unit).loops.filter(({ name }) => left.includes(name));
  return `${results.length} of ${loops.length} loops done, ${left.length} left: about ${usualS(tuned)} s.`;
}

/**
 * The running tuning and the latest tuning of each unit, whoever began it. The page renews the tuning that it
 * began.
 */
export class Autotune extends Part {
  readonly tunes = perUnit(() => signal<Tune | undefined>(undefined));
  readonly style = signal<Style>('normal');
  /** The id of the tuning whose result was dismissed. */
  readonly dismissed = signal('');
  readonly action = new Action(this.whole.clock, 'Tuning');
  readonly #renewal = new Renewal(this.whole.clock);
  /** By unit, the timer that asks again for its latest tuning. */
  readonly #retries: Partial<Record<UnitName, Timer>> = {};

  get running(): Tune | undefined {
    return UNIT_LIST.map(({ name }) => this.tunes[name].value).find(tune => tune?.state === 'running');
  }

  /** Who renews this tuning: this page, or another caller. */
  ownerOf({ id, by }: Tune): string {
    return id === this.#renewal.id.value ? 'this page' : by;
  }

  /**
   * Fetches the tunings that began or ended while this page had no stream. A tuned unit is in debug mode, so
   * other units are skipped.
   */
  async look(status: Status): Promise<void> {
    for (const { name } of UNIT_LIST) {
      const isTuned = this.tunes[name].peek()?.state === 'running';
      if (isTuned || status[name].mode === 'debug') await this.#learn(name);
    }
  }

  take(tune: Tune): void {
    // A daemon of another version may have more units.
    if (!(tune.unit in this.tunes)) return;
    const before = this.tunes[tune.unit].peek();
    const own = this.#renewal.id.peek();
    this.tunes[tune.unit].value = tune;
    if (before?.id !== own) return;
    if (tune.id !== own || tune.state !== 'running') this.#renewal.drop();
    // Plot and step card follow the loop that a tuning of this page moves.
    else if (tune.loop !== before?.loop) this.whole.choose({ unit: tune.unit, loop: tune.loop });
  }

  /** Begins to tune these loops, inner loops first. Puts the unit in debug mode before. */
  async begin(unit: UnitName, loops: readonly string[]): Promise<void> {
    const { status } = this.whole;
    if (status.peek()?.[unit].mode !== 'debug' && !(await this.whole.switchMode(unit, 'debug'))) return;
    await this.action.run(async () => {
      const outcome = await this.#ask(unit, { loops, style: this.style.peek() });
      if ('body' in outcome) this.#hold(outcome.body);
      return outcome;
    });
  }

  end(unit: UnitName): Promise<boolean> {
    const ask = { path: `/api/${unit}/autotune`, method: 'DELETE', rule: 'calms' } as const;
    return this.action.run(() => this.whole.daemon.press(ask));
  }

  /** Begins a tuning, or renews the one with this id. */
  #ask(unit: UnitName, about: { id: string } | { loops: readonly string[]; style: Style }) {
    const body = { ...about, leaseS: LEASE_S };
    const ask = { path: `/api/${unit}/autotune`, body, rule: 'moves' } as const;
    return this.whole.daemon.press<Tune>('id' in about ? { ...ask, replaces: replacesNothing } : ask);
  }

  #hold(tune: Tune): void {
    const { id, unit, loop } = tune;
    this.take(tune);
    this.whole.choose({ unit, loop });
    this.#renewal.hold(
      id,
      () => this.#ask(unit, { id }),
      () => this.#learn(unit),
    );
  }

  /** Fetches the unit's latest tuning. A restarted daemon has none. */
  async #learn(unit: UnitName): Promise<void> {
    const known = this.tunes[unit].peek();
    const { daemon, clock } = this.whole;
    const outcome = await daemon.get<{ tune: Tune | null }>(`/api/${unit}/autotune`);
    this.#retries[unit]?.cancel();
    // Asks again, because a tuning wrongly shown as running would hide the unit's excitations and trials.
    if (isUnanswered(outcome)) this.#retries[unit] = clock.after(RETRY_MS, () => void this.#learn(unit));
    // If the stream has brought a change since the request, the change is newer than this answer.
    if ('refusal' in outcome || this.tunes[unit].peek() !== known) return;
    const { tune } = outcome.body;
    const wasRunning = known?.state === 'running';
    if (wasRunning && tune?.id !== known.id)
      this.take({ ...known, state: 'aborted', why: 'the daemon does not know it any more' });
    if (tune !== null && (wasRunning || tune.state === 'running')) this.take(tune);
  }
}
