import { type Clock, unlessAborted } from '../core/clock.js';
import { type Deadlines, NEVER } from '../core/deadlines.js';
import { isRobotError, RobotError } from '../core/errors.js';
import { isVisual } from '../core/loop-controllers.js';
import type { Style } from '../core/tuning-terms.js';
import {
  type Excitation,
  type GainBounds,
  type GainSet,
  type Gains,
  type Loop,
  type UnitName,
  unitNamed,
} from '../core/units.js';
import type { SavedGains } from '../gains/gains-store.js';
import type { Robot } from '../robot/robot.js';
import type { StepCapture, TrialEnd } from '../robot/robot-event.js';
import type { Reading } from '../schemas/telemetry.js';
import { halfPeriodOf } from '../tuning/excited-run.js';
import type { Proposal, ProposalTask } from '../tuning/propose.js';
import type { ExcitationRequest, Recording, TunerPort } from '../tuning/tuner.js';
import type { Propose } from './proposer.js';

/** The time in which an ended excitation fades. */
const FADE_MS = 1100;
/** A loop is at rest if it moves by less than this fraction of the amplitude within STILL_MS. */
const STILL = 0.03;
const STILL_MS = 300;
const REST_MS = 3000;
/** Reading the last capture takes at most this time. */
const READ_OUT_MS = 2000;

/** Ends the tuning of one loop. The tuning continues with the next loop. */
export class LoopFailure extends Error {}

/** What every tuning needs. */
export interface TuningParts {
  readonly robot: Robot;
  readonly clock: Clock;
  readonly deadlines: Deadlines;
  readonly propose: Propose;
  /** Explains an error to people. */
  readonly explain: (error: RobotError) => string;
  /** No other gains are tried. */
  readonly bounds: GainBounds;
}

/** What to tune, and for which caller. */
export interface Tuning extends TuningParts {
  readonly unit: UnitName;
  /** The loops in the order of their tuning. */
  readonly loops: readonly [Loop, ...Loop[]];
  readonly style: Style;
  /** The name of the token that began the tuning. Without tokens, the address. */
  readonly by: string;
  readonly leaseMs: number;
  /** The gains in force when the tuning began. */
  readonly saved: SavedGains;
}

/** Gives a tuner access to one unit, through trials and excitations as any caller uses them. */
export function robotPort(tuning: Tuning, id: string, progress: (words: string) => void) {
  const { robot, clock, deadlines } = tuning;
  const unit = robot.units[tuning.unit];
  /** The reason why the whole tuning ends early. Undefined until it does. */
  let over: Error | undefined;
  /** Aborted with the reason when the whole tuning, or that of the current loop, ends early. */
  let ending = new AbortController();
  /** Resolve functions of all waits for the next poll. */
  const waiting: (() => void)[] = [];
  let loop: Loop = tuning.loops[0];
  /** The saved gains, with the gains that the tuning has accepted since. */
  let base = tuning.saved.gains;
  let tried: GainSet | undefined;
  /** The excitation that was requested last. */
  let excitation: Excitation | undefined;
  /** Whether the loop ran away during the current excitation; undefined if there is none. */
  let ranAway: boolean | undefined;

  const lease = deadlines.make(() => abort('nobody renewed it'));
  const loopLimit = deadlines.make(() => fail('it took too long'));
  lease.set(clock.nowMs() + tuning.leaseMs);

  /** Throws the reason if the tuning, or that of the current loop, has ended. */
  const requireGoing = (): void => {
    deadlines.judge();
    ending.signal.throwIfAborted();
  };

  /** Makes `next` the current loop. All later acts are for it. */
  const begin = (next: Loop, untilMs: number): void => {
    loop = next;
    loopLimit.set(untilMs);
    ranAway = undefined;
    ending = new AbortController();
    if (over !== undefined) ending.abort(over);
  };

  /** Makes the current loop run these gains from now on, also while other loops are tuned. */
  const accept = (gains: Gains): void => {
    base = { ...base, [loop.name]: gains };
  };

  /** False for a visual loop while there is no target. */
  const hasTargetFor = (one: Loop): boolean => !isVisual(one) || unit.flags.includes('target_visible');

  /** Ends the whole tuning. The tuner's current call rejects, and so does its next one. */
  const abort = (why: string): void => {
    over ??= new Error(why);
    ending.abort(over);
    wake();
  };

  const fail = (why: string): void => {
    ending.abort(new LoopFailure(why));
    wake();
  };

  /** After a runaway the saved gains run again. If the loop was excited, the tuner then tries gentler gains. */
  const trialEnded = (why: TrialEnd): void => {
    tried = undefined;
    if (why === 'runaway' && ranAway !== undefined) ranAway = true;
    else if (why === 'runaway') fail('it ran away');
    else if (why === 'target lost') fail('the target was lost');
    else abort(`its trial ended: ${why}`);
  };

  /** Rejects if the controller does not take the longer trial. Then the lease is the old one. */
  const renew = async (endsAtMs: number): Promise<void> => {
    const beforeMs = lease.atMs;
    lease.set(endsAtMs);
    if (tried === undefined || over !== undefined) return;
    await runTrial(tried).catch(error => {
      // A loop that ends meanwhile leaves its trial. The next trial has the new lease.
      if (over !== undefined || !isRobotError(error) || error.code === 'trial-ended') return;
      // A newer renewal may have been taken.
      if (lease.atMs === endsAtMs) lease.set(beforeMs);
      throw error;
    });
  };

  const tryGains = async (gains: Gains): Promise<void> => {
    tried = { ...base, [loop.name]: gains };
    await runTrial(tried);
    requireGoing();
  };

  const propose = async (task: ProposalTask): Promise<Proposal> => {
    requireGoing();
    const { signal } = ending;
    return unlessAborted(signal, tuning.propose(task, signal));
  };

  const secondsLeft = (): number => (loopLimit.atMs - clock.nowMs()) / 1000;

  const excite = async (asked: ExcitationRequest): Promise<Recording> => {
    const { amplitude, periodS, halves, runaway, swingsOn, rings } = asked;
    const exciteBy = (size: number, name = loop.name, most?: number) => {
      const chosen = { loop: name, amplitude: size, periodS };
      // Remembered before the frame is sent: even a refused excitation may move the loop, and must be ended.
      if (size !== 0) excitation = chosen;
      return unit.excite(chosen, { stillWanted: requireGoing, runaway: most });
    };
    requireGoing();
    let isRinging = false;
    const seesRinging = () => {
      isRinging ||= swingsOn((unit.telemetry?.atMs ?? 0) / 1000, reading('setpoint'), reading('measured'));
      return isRinging;
    };
    await exciteBy(0);
    await rest(STILL * amplitude, seesRinging);
    const output = reading('output');
    const most = runaway + Math.abs(deviation());
    const captures: StepCapture[] = [];
    const endCaptures = robot.stepped.add(capture => {
      if (capture.unit !== tuning.unit || capture.loop !== loop.name) return;
      captures.push(capture);
      isRinging ||= rings(halfPeriodOf(capture), capture.decimation);
    });
    ranAway = false;
    try {
      if (!isRinging)
        await exciteBy(amplitude, loop.name, most).catch(error => {
          // If the guard ends the excitation at once, `exciteBy` rejects with `not-confirmed`. That counts as a runaway,
          // like a later end by the guard.
          if (ranAway !== true) throw error;
        });
      const limitMs = 500 * periodS * (halves + 1) + READ_OUT_MS;
      await until(() => {
        ranAway ||= Math.abs(deviation()) > most;
        return ranAway || seesRinging() || captures.length >= halves;
      }, limitMs);
    } finally {
      endCaptures();
    }
    const how = ranAway ? 'ran away' : isRinging ? 'rings' : 'whole';
    ranAway = undefined;
    if (how === 'whole') {
      await exciteBy(0);
      await until(seesRinging, FADE_MS);
    }
    // Choosing another loop ends the excitation of this loop at once, without fading.
    const other = unitNamed(tuning.unit).loops.find(one => one.name !== loop.name);
    if (other !== undefined && (how !== 'whole' || isRinging)) await exciteBy(0, other.name);
    const whole = unbroken(captures).slice(0, halves);
    const [first] = whole;
    if (first === undefined && how === 'whole') throw new LoopFailure('no step was captured');
    return {
      halfTicks: Math.round((periodS / 2) * (first?.rateHz ?? 1)),
      decimation: first?.decimation ?? 1,
      output,
      halves: how === 'ran away' ? [] : whole.map(halfPeriodOf),
      end: how,
    };
  };

  /** Undoes everything that the tuning did to the robot. Rejects as `endTuning` does. */
  const finish = async (): Promise<void> => {
    for (const remove of listeners) remove();
    for (const limit of [lease, loopLimit]) limit.set(NEVER);
    abort('it is over');
    await unit.endTuning(id, excitation);
  };

  const runTrial = async (gains: GainSet): Promise<void> => {
    requireGoing();
    const { signal } = ending;
    const trial = { id, by: tuning.by, gains, endsAtMs: lease.atMs, ofTuning: true as const };
    const stillWanted = () => {
      deadlines.judge();
      signal.throwIfAborted();
      // The loop has run away with these gains while this request waited.
      if (tried !== gains) throw new RobotError('trial-ended');
    };
    try {
      await unit.gains.tryGains(trial, stillWanted);
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    }
  };

  /** Resolves when the loop is at rest, or after REST_MS. */
  const rest = async (still: number, seesRinging: () => boolean): Promise<void> => {
    let low = Number.POSITIVE_INFINITY;
    let high = Number.NEGATIVE_INFINITY;
    let sinceMs = clock.nowMs();
    await until(() => {
      if (seesRinging()) return true;
      const value = reading('measured');
      low = Math.min(low, value);
      high = Math.max(high, value);
      if (high - low <= still) return clock.nowMs() - sinceMs >= STILL_MS;
      [low, high, sinceMs] = [value, value, clock.nowMs()];
      return false;
    }, REST_MS);
  };

  /** Resolves when `holds` returns true, or after `limitMs`. `holds` is called after every poll. */
  const until = async (holds: () => boolean, limitMs: number): Promise<void> => {
    const untilMs = clock.nowMs() + limitMs;
    for (;;) {
      requireGoing();
      if (holds() || clock.nowMs() >= untilMs) return;
      await new Promise<void>(resolve => waiting.push(resolve));
    }
  };

  const wake = (): void => {
    for (const resolve of waiting.splice(0)) resolve();
  };

  const reading = (part: keyof Reading): number => unit.telemetry?.loops[loop.name]?.[part] ?? 0;

  const deviation = (): number => reading('setpoint') - reading('measured');
  const listeners = [
    robot.events.add(event => {
      if (event.what === 'stop') abort('the robot was stopped');
      if (!('unit' in event) || event.unit !== tuning.unit) return;
      // Some saves end no trial: those under way when the tuning began, and those between two trials. They end the
      // tuning here.
      if (event.what === 'save' && event.detail.after > tuning.saved.revision)
        abort('other gains were saved');
      if (event.what === 'trial-ended') trialEnded(event.detail.why);
      if (event.what === 'mode' && event.detail.after !== 'debug') abort('the mode was changed');
    }),
    robot.polled.add(() => {
      if (!unit.online) abort('the controller is offline');
      if (!hasTargetFor(loop)) fail('the target was lost');
      wake();
    }),
  ];
  const port: TunerPort = { tryGains, excite, propose, progress, secondsLeft };
  return {
    ...port,
    begin,
    accept,
    hasTargetFor,
    abort,
    renew,
    finish,
    /** The gains that loops run while they are not being tuned. */
    base: () => base,
    isAborted: () => {
      deadlines.judge();
      return over !== undefined;
    },
  };
}

/** The captures before the first missing number. Numbers go from 1 to 255 and start again at 1. */
function unbroken(captures: readonly StepCapture[]): readonly StepCapture[] {
  const gap = captures.findIndex((capture, index) => {
    const before = captures[index - 1];
    return before !== undefined && capture.number !== (before.number % 255) + 1;
  });
  return gap < 0 ? captures : captures.slice(0, gap);
}
