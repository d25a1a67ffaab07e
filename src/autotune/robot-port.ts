import type { Clock } from '../core/clock.js';
import { RobotError } from '../core/errors.js';
import {
  type Excitation,
  type GainSet,
  type Gains,
  type Loop,
  type UnitName,
  unitNamed,
} from '../core/units.js';
import type { Robot } from '../robot/robot.js';
import type { TrialEnd } from '../robot/robot-event.js';
import type { StepCapture } from '../robot/step-reader.js';
import type { Proposal } from '../tuning/propose.js';
import type { ProposalTask, Recording, TunerPort, WaveRequest } from '../tuning/tuner.js';
import { Patience } from './patience.js';

/** The effect of a wave that ended has faded after this time. */
const FADE_MS = 1100;
/** A loop stands still when it has moved less than this part of the amplitude for so long. */
const STILL = 0.03;
const STILL_MS = 300;
const REST_MS = 3000;
/** How long reading out the last capture may take. */
const READ_OUT_MS = 2000;

interface RobotPortOptions {
  readonly robot: Robot;
  readonly clock: Clock;
  readonly unit: UnitName;
  readonly loop: Loop;
  readonly id: string;
  readonly by: string;
  readonly leaseEndsAtMs: number;
  /** The time by which the whole tuning must be over. */
  readonly deadlineMs: number;
  readonly propose: (task: ProposalTask, signal: AbortSignal) => Promise<Proposal>;
  readonly progress: (words: string) => void;
}

/** The robot as a tuner acts on it: by trials and by the wave of debug mode, as any caller does. */
export class RobotPort implements TunerPort {
  readonly #options: RobotPortOptions;
  readonly #saved: GainSet;
  readonly #ends: (() => void)[];
  readonly #patience: Patience;
  #leaseEndsAtMs: number;
  #tried: GainSet | undefined;
  /** The last wave that was asked for. */
  #wave: Excitation | undefined;
  /** Whether the loop ran away during the wave under way; undefined while there is none. */
  #ranAway: boolean | undefined;

  constructor(options: RobotPortOptions) {
    const { robot, unit } = options;
    this.#options = options;
    this.#patience = new Patience(options.clock);
    this.#leaseEndsAtMs = options.leaseEndsAtMs;
    this.#saved = robot.store.current(unit).gains;
    this.#ends = [
      robot.events.add(event => {
        if (event.what === 'stopped' && event.after) this.abort('the robot was stopped');
        if (!('unit' in event) || event.unit !== unit) return;
        if (event.what === 'trial' && event.ended !== undefined) this.#trialEnded(event.ended);
        if (event.what === 'mode' && event.after !== 'debug') this.abort('the mode was changed');
      }),
      robot.polled.add(() => {
        const nowMs = options.clock.nowMs();
        if (nowMs >= this.#leaseEndsAtMs) this.abort('nobody renewed it');
        if (nowMs >= options.deadlineMs) this.abort('it took too long');
        if (!robot.units[unit].report().online) this.abort('the controller is offline');
        this.#patience.look();
      }),
    ];
  }

  /**
   * Ends the tuning, unless the trial ended because the loop ran away: then the saved gains run again, and calmer gains
   * are tried.
   */
  #trialEnded(why: TrialEnd): void {
    if (why === 'runaway' && this.#ranAway !== undefined) {
      this.#ranAway = true;
      this.#tried = undefined;
    } else this.abort(`its trial ended: ${why}`);
  }

  /** Rejects the next thing that the tuner does or waits for. */
  abort(why: string): void {
    this.#patience.abort(why);
  }

  get isAborted(): boolean {
    return this.#patience.isOver;
  }

  async renew(leaseEndsAtMs: number): Promise<void> {
    this.#leaseEndsAtMs = leaseEndsAtMs;
    if (this.#tried !== undefined && !this.isAborted) await this.#try(this.#tried);
  }

  async tryGains(gains: Gains): Promise<void> {
    this.#tried = { ...this.#saved, [this.#options.loop.name]: gains };
    await this.#try(this.#tried);
    this.#patience.requireGoing();
  }

  async propose(task: ProposalTask): Promise<Proposal> {
    const needed = new AbortController();
    let isDone = false;
    const proposal = this.#options.propose(task, needed.signal).finally(() => {
      isDone = true;
    });
    proposal.catch(() => undefined);
    try {
      await this.#patience.until(() => isDone, Number.POSITIVE_INFINITY);
    } finally {
      needed.abort();
    }
    return proposal;
  }

  progress(words: string): void {
    this.#options.progress(words);
  }

  secondsLeft(): number {
    return (this.#options.deadlineMs - this.#options.clock.nowMs()) / 1000;
  }

  async excite({ amplitude, periodS, halves, runaway, swingsOn, rings }: WaveRequest): Promise<Recording> {
    const { robot, unit, loop, clock } = this.#options;
    const wave = (size: number, name = loop.name, most?: number) => {
      const chosen = { loop: name, amplitude: size, periodS };
      // Noted before it is sent: a wave that is refused may move all the same, and has to be taken away.
      if (size !== 0) this.#wave = chosen;
      return robot.units[unit].excite(chosen, undefined, most);
    };
    this.#patience.requireGoing();
    let isRinging = false;
    const looksRinging = () => {
      isRinging ||= swingsOn(clock.nowMs() / 1000, this.#reading('setpoint'), this.#reading('measured'));
      return isRinging;
    };
    await wave(0);
    await this.#rest(STILL * amplitude, looksRinging);
    const output = this.#reading('output');
    const most = runaway + Math.abs(this.#deviation());
    const captures: StepCapture[] = [];
    const endCaptures = robot.stepped.add(capture => {
      if (capture.unit !== unit || capture.loop !== loop.name) return;
      captures.push(capture);
      isRinging ||= rings(capture, capture.decimation);
    });
    this.#ranAway = false;
    try {
      if (!isRinging) await wave(amplitude, loop.name, most).catch(this.#unlessRanAway);
      const limitMs = 500 * periodS * (halves + 1) + READ_OUT_MS;
      await this.#patience.until(() => {
        this.#ranAway ||= Math.abs(this.#deviation()) > most;
        return this.#ranAway || looksRinging() || captures.length >= halves;
      }, limitMs);
    } finally {
      endCaptures();
    }
    const end = this.#ranAway ? 'ran away' : isRinging ? 'rings' : 'whole';
    this.#ranAway = undefined;
    if (end === 'whole') {
      await wave(0);
      await this.#patience.until(looksRinging, FADE_MS);
    }
    // A wave that is chosen for another loop ends on this one at once, without fading.
    const other = unitNamed(unit).loops.find(one => one.name !== loop.name);
    if (other !== undefined && (end !== 'whole' || isRinging)) await wave(0, other.name);
    const whole = unbroken(captures).slice(0, halves);
    const [first] = whole;
    if (first === undefined && end === 'whole') {
      throw new RobotError('loop-unfit', { loop: loop.name, reason: 'no step was captured' });
    }
    return {
      halfTicks: Math.round((periodS / 2) * (first?.rateHz ?? 1)),
      decimation: first?.decimation ?? 1,
      output,
      halves: end === 'ran away' ? [] : whole.map(({ setpoint, measured }) => ({ setpoint, measured })),
      end,
    };
  }

  /**
   * Takes back everything that a tuning did to the robot. Rejects with `not-confirmed` where that is not proven in
   * time; polls go on with it then.
   */
  async finish(): Promise<void> {
    for (const end of this.#ends) end();
    this.abort('it is over');
    const { robot, unit, id } = this.#options;
    await robot.units[unit].endTuning(id, this.#wave);
  }

  /**
   * A wave that the guard ended at once is refused as not confirmed. That says as much about the gains as one that ran
   * away later.
   */
  readonly #unlessRanAway = (error: unknown) => {
    if (this.#ranAway !== true) throw error;
  };

  async #try(gains: GainSet): Promise<void> {
    this.#patience.requireGoing();
    const { robot, unit, id, by } = this.#options;
    const trial = { id, by, gains, endsAtMs: this.#leaseEndsAtMs, ofTuning: true as const };
    await robot.units[unit].gains.tryGains(trial, () => {
      this.#patience.requireGoing();
      // The loop ran away with these gains while this waited.
      if (this.#tried !== gains) throw new RobotError('trial-ended');
    });
  }

  /** Resolves when the loop stands still, or when it still moves after a long wait. */
  async #rest(still: number, looksRinging: () => boolean): Promise<void> {
    let low = Number.POSITIVE_INFINITY;
    let high = Number.NEGATIVE_INFINITY;
    const { clock } = this.#options;
    let sinceMs = clock.nowMs();
    await this.#patience.until(() => {
      if (looksRinging()) return true;
      const value = this.#reading('measured');
      low = Math.min(low, value);
      high = Math.max(high, value);
      if (high - low <= still) return clock.nowMs() - sinceMs >= STILL_MS;
      [low, high, sinceMs] = [value, value, clock.nowMs()];
      return false;
    }, REST_MS);
  }

  #reading(part: 'setpoint' | 'measured' | 'output'): number {
    const { robot, unit, loop } = this.#options;
    return robot.units[unit].telemetry?.[`${loop.name}.${part}`] ?? 0;
  }

  #deviation(): number {
    return this.#reading('setpoint') - this.#reading('measured');
  }
}

/**
 * The captures from the first on whose numbers follow one another without a gap. Numbers go from 1 to 255 and begin
 * again at 1.
 */
function unbroken(captures: readonly StepCapture[]): readonly StepCapture[] {
  const gap = captures.findIndex((capture, index) => {
    const before = captures[index - 1];
    return before !== undefined && capture.number !== (before.number % 255) + 1;
  });
  return gap < 0 ? captures : captures.slice(0, gap);
}
