import { RobotError } from '../core/errors.js';
import { Listeners } from '../core/listeners.js';
import { isVisual } from '../core/loop-controllers.js';
import { insideOut } from '../core/tuning-terms.js';
import { type Loop, type UnitName, unitNamed } from '../core/units.js';
import type { Act, Permission } from '../robot/request-gate.js';
import type { NewEvent } from '../schemas/log.js';
import type { Tune } from '../schemas/tune.js';
import type { Tuning, TuningParts } from './robot-port.js';
import { NO_TARGET, type TuneRun, tuneRun } from './tune-run.js';

interface TuneRequest extends Pick<Tuning, 'unit' | 'style' | 'by' | 'leaseMs'> {
  readonly loops: readonly string[];
  /** The earliest time at which the request may have come (Clock milliseconds). */
  readonly sinceMs?: number;
}

/**
 * Tunes loops of one unit at a time, in debug mode and with the laser dark. It proposes gains and never saves them. As a
 * permission, it forbids light while it tunes.
 */
export class Autotune implements Permission {
  /** Emitted when the current tuning has changed. */
  readonly changed = new Listeners<Tune>();
  /** Emitted when a tuning begins or ends. */
  readonly events = new Listeners<NewEvent>();
  readonly #options: TuningParts;
  readonly #latest = new Map<UnitName, Tune>();
  #running: { readonly run: TuneRun; readonly over: Promise<void> } | undefined;

  constructor(options: TuningParts) {
    this.#options = options;
    options.robot.obey(this);
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  require({ kind }: Act): void {
    if (kind === 'light' && this.isRunning) throw new RobotError('tune-running');
  }

  /** The current tuning of this unit, or its last one; undefined before the first. */
  of(unit: UnitName): Tune | undefined {
    return this.#latest.get(unit);
  }

  /** Throws `tune-running` while this unit is tuned. */
  requireUntuned(unit: UnitName): void {
    const tune = this.of(unit);
    if (tune?.state === 'running') throw new RobotError('tune-running', { loop: tune.loop, by: tune.by });
  }

  /**
   * Throws `locked`, `referee-silent`, `wrong-phase`, `tune-running`, `stopped`, `too-late`, `unit-offline`, `wrong-mode`,
   * `trial-running`, `loop-unfit`, or the error of a laser that cannot be darkened.
   */
  start(request: TuneRequest): Tune {
    const { unit, style, by, sinceMs } = request;
    const { robot } = this.#options;
    const loops = namedLoops(unit, request.loops);
    this.#requireFree(unit, loops);
    if (sinceMs !== undefined) robot.units[unit].notOlder(sinceMs)();
    const saved = robot.store.current(unit);
    const mayBeLit = robot.laser.darken('tuning');
    if (mayBeLit !== undefined) throw mayBeLit;
    const changed = (tune: Tune) => {
      this.#latest.set(unit, tune);
      this.changed.emit(tune);
    };
    const run = tuneRun({ ...this.#options, ...request, loops, saved }, changed);
    this.#latest.set(unit, run.tune());
    const loop = run.tune().loops.join(', ');
    const over = run.tuneLoops().then(async end => {
      try {
        await run.port.finish();
      } finally {
        this.#running = undefined;
        run.show(end);
        this.events.emit({ what: 'tune-end', unit, detail: { loop, end: end.state, why: end.why } });
      }
    });
    over.catch(() => undefined);
    this.#running = { run, over };
    this.events.emit({ what: 'tune', unit, who: by, detail: { loop, style } });
    return run.tune();
  }

  /**
   * Renews the lease of the tuning `id`. Throws `trial-ended`, or `tune-running` if another caller than `by` began the
   * tuning.
   */
  async renew(unit: UnitName, id: string, by: string, leaseMs: number): Promise<Tune> {
    const run = this.#running?.run;
    if (run === undefined || run.tune().id !== id || run.tune().unit !== unit)
      throw new RobotError('trial-ended');
    const { loop, by: owner } = run.tune();
    if (owner !== by) throw new RobotError('tune-running', { loop, by: owner });
    if (run.port.isAborted()) throw new RobotError('trial-ended');
    await run.port.renew(this.#options.clock.nowMs() + leaseMs);
    if (run.port.isAborted()) throw new RobotError('trial-ended');
    return run.tune();
  }

  /**
   * Ends the current tuning, if it is of this unit. Resolves with true when the saved gains run again and nothing is
   * excited, or with false if there was no such tuning. Rejects with `not-confirmed` if the controller does not confirm;
   * the tuning is over even then.
   */
  async end(why: string, unit = this.#running?.run.tune().unit): Promise<boolean> {
    const running = this.#running;
    if (unit !== undefined) this.#options.robot.units[unit].ended();
    if (running === undefined || running.run.tune().unit !== unit) return false;
    running.run.port.abort(why);
    await running.over;
    return true;
  }

  #requireFree(unit: UnitName, loops: readonly Loop[]): void {
    const { robot } = this.#options;
    robot.require({ kind: 'excite' });
    robot.require({ kind: 'trial' });
    const running = this.#running?.run.tune();
    if (running !== undefined) throw new RobotError('tune-running', { loop: running.loop, by: running.by });
    if (robot.stopped) throw new RobotError('stopped');
    const { online, problem, mode, trial, flags } = robot.units[unit].report();
    if (!online) throw new RobotError('unit-offline', { unit }, { cause: problem });
    if (mode !== 'debug') throw new RobotError('wrong-mode', { unit, mode });
    if (trial !== undefined) throw new RobotError('trial-running', { unit, by: trial.by });
    const loop = loops.map(({ name }) => name).join(', ');
    if (!flags.includes('target_visible') && loops.every(isVisual))
      throw new RobotError('loop-unfit', { loop, reason: NO_TARGET });
  }
}

/** The named loops of the unit, each after the loop that its output goes to. Throws `loop-unfit`. */
function namedLoops(unit: UnitName, names: readonly string[]): readonly [Loop, ...Loop[]] {
  const [first, ...others] = insideOut(unitNamed(unit)).filter(({ name }) => names.includes(name));
  if (first === undefined)
    throw new RobotError('loop-unfit', { loop: names.join(', '), reason: `the ${unit} has none` });
  return [first, ...others];
}
