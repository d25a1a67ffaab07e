import { randomUUID } from 'node:crypto';
import type { Clock } from '../core/clock.js';
import { isRobotError, messageOf, RobotError } from '../core/errors.js';
import { Listeners } from '../core/listeners.js';
import { controllerOf } from '../core/loop-controllers.js';
import { LONGEST_TUNING_S, type Style, TUNING_PART } from '../core/tuning-terms.js';
import { type UnitName, unitNamed } from '../core/units.js';
import type { Robot } from '../robot/robot.js';
import type { Happening } from '../schemas/log.js';
import type { Tune } from '../schemas/tune.js';
import { shapeOf } from '../tuning/loop-shape.js';
import type { Proposal } from '../tuning/propose.js';
import { type Measured, type ProposalTask, tune } from '../tuning/tuner.js';
import { RobotPort } from './robot-port.js';

/**
 * Fits the plant and designs gains without keeping anything else waiting, until `signal` says that the result is no
 * longer needed.
 */
export type Propose = (task: ProposalTask, signal: AbortSignal) => Promise<Proposal>;

interface TuneRequest {
  readonly unit: UnitName;
  readonly loop: string;
  readonly style: Style;
  readonly by: string;
  readonly leaseMs: number;
}

/**
 * Tunes one loop of the robot at a time, in debug mode and with the laser dark. It proposes gains and never saves them.
 */
export class Autotune {
  /** Emitted when something is new about the tuning under way. */
  readonly changed = new Listeners<Tune>();
  /** Emitted when a tuning began or ended. */
  readonly happened = new Listeners<Happening>();
  readonly #robot: Robot;
  readonly #clock: Clock;
  readonly #propose: Propose;
  readonly #explain: (error: RobotError) => string;
  readonly #latest = new Map<UnitName, Tune>();
  #running: { readonly tune: Tune; readonly port: RobotPort; readonly over: Promise<void> } | undefined;

  constructor(options: {
    robot: Robot;
    clock: Clock;
    propose: Propose;
    /** Says for people what is wrong. */
    explain: (error: RobotError) => string;
  }) {
    this.#robot = options.robot;
    this.#clock = options.clock;
    this.#propose = options.propose;
    this.#explain = options.explain;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** The tuning under way on this unit, or its last; undefined before the first. */
  of(unit: UnitName): Tune | undefined {
    return this.#latest.get(unit);
  }

  /**
   * Throws `locked`, `referee-silent` or `wrong-phase` where a match forbids it, and `tune-running`, `stopped`,
   * `unit-offline`, `wrong-mode`, `trial-running`, `loop-unfit`, or the error with which the laser could not be
   * darkened.
   */
  start({ unit, loop: name, style, by, leaseMs }: TuneRequest): Tune {
    const robot = this.#robot;
    const loop = unitNamed(unit).loops.find(one => one.name === name);
    if (loop === undefined)
      throw new RobotError('loop-unfit', { loop: name, reason: `the ${unit} has none` });
    this.#requireFree(unit, name);
    const gains = robot.store.current(unit).gains[name] ?? loop.defaults;
    robot.laser.requireDark('tuning');
    const id = randomUUID();
    const nowMs = this.#clock.nowMs();
    const begun: Tune = {
      id,
      by,
      unit,
      loop: name,
      style,
      state: 'running',
      words: [],
      why: null,
      before: null,
      proposed: null,
      predicted: null,
    };
    const port = new RobotPort({
      robot,
      clock: this.#clock,
      unit,
      loop,
      id,
      by,
      leaseEndsAtMs: nowMs + leaseMs,
      deadlineMs: nowMs + 1000 * LONGEST_TUNING_S,
      propose: this.#propose,
      progress: words => this.#show(unit, { words: [...(this.of(unit)?.words ?? []), words] }),
    });
    const rateHz = robot.units[unit].report().identity?.loopRateHz ?? 1000;
    const amplitude = TUNING_PART * loop.maxAmplitude;
    const task = { shape: shapeOf(loop, rateHz), gains, amplitude, periodS: loop.excitationPeriodS, style };
    this.#latest.set(unit, begun);
    const over = tune(task, port)
      .then(({ end, why, before, proposed, prediction }) => ({
        state: end,
        why,
        before: measuredOf(before),
        proposed: proposed && measuredOf(proposed),
        predicted: prediction && predictedOf(prediction),
      }))
      .catch((error: unknown) => ({ state: 'aborted' as const, why: this.#reasonOf(error) }))
      .then(async end => {
        try {
          await port.finish();
        } finally {
          this.#running = undefined;
          this.#show(unit, end);
          this.happened.emit({
            what: 'tune-end',
            unit,
            detail: { loop: name, end: end.state, why: end.why },
          });
        }
      });
    over.catch(() => undefined);
    this.#running = { tune: begun, port, over };
    this.happened.emit({ what: 'tune', unit, who: by, detail: { loop: name, style } });
    return begun;
  }

  /**
   * Lets the tuning `id` go on for at least this long. Throws `trial-ended`, or `tune-running` if somebody else than `by`
   * began it.
   */
  async renew(unit: UnitName, id: string, by: string, leaseMs: number): Promise<Tune> {
    const running = this.#running;
    if (running === undefined || running.tune.id !== id || running.tune.unit !== unit) {
      throw new RobotError('trial-ended');
    }
    const { loop, by: owner } = running.tune;
    if (owner !== by) throw new RobotError('tune-running', { loop, by: owner });
    if (running.port.isAborted) throw new RobotError('trial-ended');
    await running.port.renew(this.#clock.nowMs() + leaseMs).catch(() => undefined);
    return this.of(unit) ?? running.tune;
  }

  /**
   * Ends the tuning under way. Resolves when the saved gains run again and nothing is excited, with false where there
   * was no tuning. Rejects with `not-confirmed` where that is not proven; the tuning is over all the same.
   */
  async end(why: string): Promise<boolean> {
    const running = this.#running;
    if (running === undefined) return false;
    running.port.abort(why);
    await running.over;
    return true;
  }

  #show(unit: UnitName, change: Partial<Tune>): void {
    const known = this.of(unit);
    if (known === undefined) return;
    const now = { ...known, ...change };
    this.#latest.set(unit, now);
    this.changed.emit(now);
  }

  #reasonOf(error: unknown): string {
    if (isRobotError(error, 'loop-unfit')) return error.context.reason;
    if (isRobotError(error)) return this.#explain(error);
    return messageOf(error);
  }

  #requireFree(unit: UnitName, loop: string): void {
    this.#robot.requireAllowed({ kind: 'excite' });
    this.#robot.requireAllowed({ kind: 'trial' });
    const running = this.#running?.tune;
    if (running !== undefined) throw new RobotError('tune-running', { loop: running.loop, by: running.by });
    if (this.#robot.stopped) throw new RobotError('stopped');
    const { online, problem, mode, trial, flags } = this.#robot.units[unit].report();
    if (!online) throw new RobotError('unit-offline', { unit }, { cause: problem });
    if (mode !== 'debug') throw new RobotError('wrong-mode', { unit, mode });
    if (trial !== undefined) throw new RobotError('trial-running', { unit, by: trial.by });
    const isVisual = controllerOf({ unit, name: loop }).sign === -1;
    if (isVisual && !flags.includes('target_visible')) {
      throw new RobotError('loop-unfit', { loop, reason: 'there is no target in view' });
    }
  }
}

function measuredOf({ gains, figures }: Measured): Measured {
  return { gains, figures };
}

function predictedOf({ design, fit, curve }: Proposal) {
  const { settlingS, overshootPercent } = design.evaluation;
  return { settlingS, overshootPercent, fitPercent: fit.errorPercent, curve };
}
