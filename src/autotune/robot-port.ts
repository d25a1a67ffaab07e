import type { Clock } from '../core/clock.js';
import { RobotError } from '../core/errors.js';
import { isVisual } from '../core/loop-controllers.js';
import type { Style } from '../core/tuning-terms.js';
import {
  type Excitation,
  type GainSet,
  type Gains,
  type Loop,
  type UnitName,
  unitNamed,
} from '../core/units.js';
import type { SavedGains } from '../gains/gains-store.js';
import type { Robot } from '../robot/robot.js';
import type { StepCapture, TrialEnd } from '../robot/robot-event.js';
import { halfWaveOf } from '../tuning/excited-run.js';
import type { Proposal, ProposalTask } from '../tuning/propose.js';
import type { ExcitationRequest, Recording, TunerPort } from '../tuning/tuner.js';
import type { Propose } from './proposer.js';

/** After this time, an excitation that ended has faded. */
const FADE_MS = 1100;
/** A loop is at rest if it moves less than this part of the amplitude for this time. */
const STILL = 0.03;
const STILL_MS = 300;
const REST_MS = 3000;
/** Reading the last capture takes at most this time. */
const READ_OUT_MS = 2000;

/** Ends the tuning of one loop. The tuning continues with the next loop. */
export class LoopFailure extends Error {}

/** What is tuned, and for whom. */
export interface Tuning {
  readonly robot: Robot;
  readonly clock: Clock;
  readonly propose: Propose;
  readonly unit: UnitName;
  /** In the order in which they are tuned. */
  readonly loops: readonly [Loop, ...Loop[]];
  readonly style: Style;
  /** The name of the token that began the tuning. Without tokens, the address. */
  readonly by: string;
  readonly leaseMs: number;
  /** The gains in force when the tuning began. */
  readonly saved: SavedGains;
}

/** Gives a tuner access to one unit, through trials and excitations as any caller uses them. */
export class RobotPort implements TunerPort {
  readonly progress: (words: string) => void;
  readonly #tuning: Tuning;
  /** The id of the tuning and of its trials. */
  readonly #id: string;
  readonly #listeners: (() => void)[];
  /** Why the whole tuning ends early; undefined while it goes on. */
  #over: Error | undefined;
  /** Aborted with the reason when the whole tuning ends early, or that of the current loop. */
  #end = new AbortController();
  /** Resolve functions of all waits for the next poll. */
  #waiting: (() => void)[] = [];
  #loop: Loop;
  #deadlineMs = Number.POSITIVE_INFINITY;
  /** The saved gains, with the gains that the tuning has accepted since. */
  #base: GainSet;
  #leaseEndsAtMs: number;
  #tried: GainSet | undefined;
  /** The excitation that was requested last. */
  #excitation: Excitation | undefined;
  /** Whether the loop ran away during the current excitation; undefined if there is none. */
  #ranAway: boolean | undefined;

  constructor(tuning: Tuning, id: string, progress: (words: string) => void) {
    const { robot, unit, clock, loops, leaseMs, saved } = tuning;
    this.progress = progress;
    this.#tuning = tuning;
    this.#id = id;
    this.#leaseEndsAtMs = clock.nowMs() + leaseMs;
    this.#base = saved.gains;
    this.#loop = loops[0];
    this.#listeners = [
      robot.events.add(event => {
        if (event.what === 'stop') this.abort('the robot was stopped');
        if (!('unit' in event) || event.unit !== unit) return;
        if (event.what === 'trial-ended') this.#trialEnded(event.detail.why);
        if (event.what === 'mode' && event.detail.after !== 'debug') this.abort('the mode was changed');
      }),
      robot.polled.add(() => {
        const nowMs = clock.nowMs();
        if (nowMs >= this.#leaseEndsAtMs) this.abort('nobody renewed it');
        if (!robot.units[unit].report().online) this.abort('the controller is offline');
        if (nowMs >= this.#deadlineMs) this.#fail('it took too long');
        if (!this.hasTargetFor(this.#loop)) this.#fail('the target was lost');
        this.#wake();
      }),
    ];
  }

  /** All acts after this call are for this loop. */
  begin(loop: Loop, deadlineMs: number): void {
    this.#loop = loop;
    this.#deadlineMs = deadlineMs;
    this.#ranAway = undefined;
    this.#end = new AbortController();
    if (this.#over !== undefined) this.#end.abort(this.#over);
  }

  /** The gains that the other loops run. */
  get base(): GainSet {
    return this.#base;
  }

  /** The current loop runs these gains from now on, also while other loops are tuned. */
  accept(gains: Gains): void {
    this.#base = { ...this.#base, [this.#loop.name]: gains };
  }

  /** False for a visual loop while there is no target. */
  hasTargetFor(loop: Loop): boolean {
    const { robot, unit } = this.#tuning;
    return !isVisual(loop) || robot.units[unit].flags.includes('target_visible');
  }

  /** Ends the whole tuning. The tuner's current act and its next one reject. */
  abort(why: string): void {
    this.#over ??= new Error(why);
    this.#end.abort(this.#over);
    this.#wake();
  }

  get isAborted(): boolean {
    return this.#over !== undefined;
  }

  #fail(why: string): void {
    this.#end.abort(new LoopFailure(why));
    this.#wake();
  }

  /** After a runaway the saved gains run again. If the loop was excited, the tuner then tries gentler gains. */
  #trialEnded(why: TrialEnd): void {
    this.#tried = undefined;
    if (why === 'runaway' && this.#ranAway !== undefined) this.#ranAway = true;
    else if (why === 'runaway') this.#fail('it ran away');
    else if (why === 'target lost') this.#fail('the target was lost');
    else this.abort(`its trial ended: ${why}`);
  }

  async renew(leaseEndsAtMs: number): Promise<void> {
    this.#leaseEndsAtMs = leaseEndsAtMs;
    if (this.#tried !== undefined && !this.isAborted) await this.#try(this.#tried);
  }

  async tryGains(gains: Gains): Promise<void> {
    this.#tried = { ...this.#base, [this.#loop.name]: gains };
    await this.#try(this.#tried);
    this.#end.signal.throwIfAborted();
  }

  async propose(task: ProposalTask): Promise<Proposal> {
    const { signal } = this.#end;
    signal.throwIfAborted();
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
    return Promise.race([aborted, this.#tuning.propose(task, signal)]);
  }

  secondsLeft(): number {
    return (this.#deadlineMs - this.#tuning.clock.nowMs()) / 1000;
  }

  async excite(asked: ExcitationRequest): Promise<Recording> {
    const { amplitude, periodS, halves, runaway, swingsOn, rings } = asked;
    const { robot, unit, clock } = this.#tuning;
    const loop = this.#loop;
    const excite = (size: number, name = loop.name, most?: number) => {
      const chosen = { loop: name, amplitude: size, periodS };
      // Set before the frame is sent: even a refused excitation may move the loop, and must be ended.
      if (size !== 0) this.#excitation = chosen;
      return robot.units[unit].excite(chosen, undefined, most);
    };
    this.#end.signal.throwIfAborted();
    let isRinging = false;
    const seesRinging = () => {
      isRinging ||= swingsOn(clock.nowMs() / 1000, this.#reading('setpoint'), this.#reading('measured'));
      return isRinging;
    };
    await excite(0);
    await this.#rest(STILL * amplitude, seesRinging);
    const output = this.#reading('output');
    const most = runaway + Math.abs(this.#deviation());
    const captures: StepCapture[] = [];
    const endCaptures = robot.stepped.add(capture => {
      if (capture.unit !== unit || capture.loop !== loop.name) return;
      captures.push(capture);
      isRinging ||= rings(halfWaveOf(capture), capture.decimation);
    });
    this.#ranAway = false;
    try {
      if (!isRinging)
        await excite(amplitude, loop.name, most).catch(error => {
          // If the guard ends an excitation at once, the excitation is refused as not confirmed. This counts as a
          // runaway, as later ones do.
          if (this.#ranAway !== true) throw error;
        });
      const limitMs = 500 * periodS * (halves + 1) + READ_OUT_MS;
      await this.#until(() => {
        this.#ranAway ||= Math.abs(this.#deviation()) > most;
        return this.#ranAway || seesRinging() || captures.length >= halves;
      }, limitMs);
    } finally {
      endCaptures();
    }
    const end = this.#ranAway ? 'ran away' : isRinging ? 'rings' : 'whole';
    this.#ranAway = undefined;
    if (end === 'whole') {
      await excite(0);
      await this.#until(seesRinging, FADE_MS);
    }
    // Choosing another loop ends the excitation of this one at once, without fading.
    const other = unitNamed(unit).loops.find(one => one.name !== loop.name);
    if (other !== undefined && (end !== 'whole' || isRinging)) await excite(0, other.name);
    const whole = unbroken(captures).slice(0, halves);
    const [first] = whole;
    if (first === undefined && end === 'whole') throw new LoopFailure('no step was captured');
    return {
      halfTicks: Math.round((periodS / 2) * (first?.rateHz ?? 1)),
      decimation: first?.decimation ?? 1,
      output,
      halves: end === 'ran away' ? [] : whole.map(halfWaveOf),
      end,
    };
  }

  /** Undoes everything that the tuning did to the robot. Rejects as `endTuning` does. */
  async finish(): Promise<void> {
    for (const end of this.#listeners) end();
    this.abort('it is over');
    const { robot, unit } = this.#tuning;
    await robot.units[unit].endTuning(this.#id, this.#excitation);
  }

  async #try(gains: GainSet): Promise<void> {
    const { signal } = this.#end;
    signal.throwIfAborted();
    const { robot, unit, by } = this.#tuning;
    const trial = { id: this.#id, by, gains, endsAtMs: this.#leaseEndsAtMs, ofTuning: true as const };
    const stillWanted = () => {
      signal.throwIfAborted();
      // The loop ran away with these gains while this request waited.
      if (this.#tried !== gains) throw new RobotError('trial-ended');
    };
    try {
      await robot.units[unit].gains.tryGains(trial, stillWanted);
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    }
  }

  /** Resolves when the loop is at rest, or after REST_MS. */
  async #rest(still: number, seesRinging: () => boolean): Promise<void> {
    let low = Number.POSITIVE_INFINITY;
    let high = Number.NEGATIVE_INFINITY;
    const { clock } = this.#tuning;
    let sinceMs = clock.nowMs();
    await this.#until(() => {
      if (seesRinging()) return true;
      const value = this.#reading('measured');
      low = Math.min(low, value);
      high = Math.max(high, value);
      if (high - low <= still) return clock.nowMs() - sinceMs >= STILL_MS;
      [low, high, sinceMs] = [value, value, clock.nowMs()];
      return false;
    }, REST_MS);
  }

  /** Resolves when `holds` returns true, or after `limitMs`. `holds` is called after every poll. */
  async #until(holds: () => boolean, limitMs: number): Promise<void> {
    const { clock } = this.#tuning;
    const untilMs = clock.nowMs() + limitMs;
    for (;;) {
      this.#end.signal.throwIfAborted();
      if (holds() || clock.nowMs() >= untilMs) return;
      await new Promise<void>(resolve => this.#waiting.push(resolve));
    }
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #reading(part: 'setpoint' | 'measured' | 'output'): number {
    const { robot, unit } = this.#tuning;
    return robot.units[unit].telemetry?.loops[this.#loop.name]?.[part] ?? 0;
  }

  #deviation(): number {
    return this.#reading('setpoint') - this.#reading('measured');
  }
}

/** The captures before the first missing number. Numbers go from 1 to 255 and start again at 1. */
function unbroken(captures: readonly StepCapture[]): readonly StepCapture[] {
  const gap = captures.findIndex((capture, index) => {
    const before = captures[index - 1];
    return before !== undefined && capture.number !== (before.number % 255) + 1;
  });
  return gap < 0 ? captures : captures.slice(0, gap);
}
