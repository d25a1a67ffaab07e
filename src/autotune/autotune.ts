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
import { type TuneResult, tune } from '../tuning/tuner.js';
import type { Propose } from './proposer.js';
import { RobotPort } from './robot-port.js';

interface TuneRequest {
  readonly unit: UnitName;
  readonly loop: string;
  readonly style: Style;
  readonly by: string;
  readonly leaseMs: number;
}

/** Tunes one loop at a time, in debug mode and with the laser dark. It proposes gains and never saves them. */
export class Autotune {
  /** Emitted when the current tuning has changed. */
  readonly changed = new Listeners<Tune>();
  /** Emitted when a tuning begins or ends. */
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
    /** Explains an error to people. */
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

  /** The current tuning of this unit, or its last one; undefined before the first. */
  of(unit: UnitName): Tune | undefined {
    return this.#latest.get(unit);
  }

  /**
   * Throws `locked`, `referee-silent`, `wrong-phase`, `tune-running`, `stopped`, `unit-offline`, `wrong-mode`,
   * `trial-running`, `loop-unfit`, or the error of a laser that cannot be darkened.
   */
  start({ unit, loop: name, style, by, leaseMs }: TuneRequest): Tune {
    const robot = this.#robot;
    const loop = unitNamed(unit).loops.find(one => one.name === name);
    if (loop === undefined) {
      throw new RobotError('loop-unfit', { loop: name, reason: `the ${unit} has none` });
    }
    this.#requireFree(unit, name);
    const gains = robot.store.current(unit).gains[name] ?? loop.defaults;
    robot.laser.requireDark('tuning');
    const id = randomUUID();
    const nowMs = this.#clock.nowMs();
    const nothing = { why: null, before: null, proposed: null, predicted: null };
    const begun: Tune = { id, by, unit, loop: name, style, state: 'running', words: [], ...nothing };
    this.#latest.set(unit, begun);
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
    const shape = shapeOf(loop, robot.units[unit].report().identity?.loopRateHz ?? 1000);
    const amplitude = TUNING_PART * loop.maxAmplitude;
    const result = tune({ shape, gains, amplitude, periodS: loop.excitationPeriodS, style }, port);
    const over = this.#finish(port, begun, result);
    over.catch(() => undefined);
    this.#running = { tune: begun, port, over };
    this.happened.emit({ what: 'tune', unit, who: by, detail: { loop: name, style } });
    return begun;
  }

  async #finish(port: RobotPort, { unit, loop }: Tune, result: Promise<TuneResult>): Promise<void> {
    const end = await result.then(
      ({ prediction, ...measured }) => ({ ...measured, predicted: prediction && predictedOf(prediction) }),
      (error: unknown) => ({ state: 'aborted' as const, why: this.#reasonOf(error) }),
    );
    try {
      await port.finish();
    } finally {
      this.#running = undefined;
      this.#show(unit, end);
      this.happened.emit({ what: 'tune-end', unit, detail: { loop, end: end.state, why: end.why } });
    }
  }

  /**
   * Lets the tuning `id` go on for at least this long. Throws `trial-ended`, or `tune-running` if somebody else than `by`
   * began it.
   */
  async renew(unit: UnitName, id: string, by: string, leaseMs: number): Promise<Tune> {
    const running = this.#running;
    const isOver = running?.tune.id !== id || running.tune.unit !== unit || running.port.isAborted;
    if (isOver) throw new RobotError('trial-ended');
    const { loop, by: owner } = running.tune;
    if (owner !== by) throw new RobotError('tune-running', { loop, by: owner });
    await running.port.renew(this.#clock.nowMs() + leaseMs).catch(() => undefined);
    return this.of(unit) ?? running.tune;
  }

  /**
   * Ends the current tuning. Resolves when the saved gains run again and nothing is excited, with false if there was no
   * tuning. Rejects with `not-confirmed` if that is not proven; the tuning is over all the same.
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

function predictedOf({ design, fit, curve }: Proposal) {
  const { settlingS, overshootPercent } = design.evaluation;
  return { settlingS, overshootPercent, fitPercent: fit.errorPercent, curve };
}
