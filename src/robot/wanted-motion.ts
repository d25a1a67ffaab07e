import type { Excitation } from '../core/units.js';
import { TAKES_EFFECT_MS } from '../protocol/registers.js';
import type { ExcitationEnd, UnitEvent } from './robot-event.js';

/**
 * The frames of one kind (mode, latch or excitation) that were written to a controller and may still take
 * effect. An answer may be lost, and the effect may come up to 20 ms later. While there are such frames, a
 * difference counts as the daemon's doing and is corrected. Otherwise the controller changed without being
 * asked, and the change is adopted.
 */
export class UnsettledFrames {
  #writing = 0;
  #unsettled = false;
  #disturbances = 0;
  /** Whether every unsettled frame has taken full effect. */
  #isProven = false;
  /** The time since which the controller shows the wanted value. Undefined while it does not. */
  #agreesSinceMs: number | undefined;

  get unsettled(): boolean {
    return this.#unsettled;
  }

  /** Forgets earlier observations, because a frame may be in flight. */
  disturb(): void {
    this.#unsettled = true;
    this.#disturbances += 1;
    this.#isProven = false;
    this.#agreesSinceMs = undefined;
  }

  /**
   * Runs `write`, which may put frames on the bus until it settles. Tells `write` whether earlier frames may still
   * take effect. In that case `write` waits until they no longer can. `write` resolves with true as a proof that it
   * sent only one frame, and that the controller now shows a value that it did not show before. All frames have then
   * taken full effect.
   */
  async during(write: (unsettled: boolean) => Promise<unknown>): Promise<void> {
    const wasUnsettled = this.#unsettled;
    this.#writing += 1;
    this.disturb();
    const disturbances = this.#disturbances;
    let result: unknown;
    try {
      result = await write(wasUnsettled);
    } finally {
      const isAlone = this.#disturbances === disturbances;
      this.#writing -= 1;
      this.disturb();
      this.#isProven = result === true && isAlone;
    }
  }

  /**
   * Decides who caused a difference between the controller and the wanted value. After a proof, frames settle as soon
   * as the controller agrees. Otherwise the controller must agree for as long as a frame may need to take effect.
   */
  judge(agrees: boolean, nowMs: number): 'as wanted' | 'our doing' | 'its own doing' {
    if (!agrees) {
      this.#agreesSinceMs = undefined;
      return this.#unsettled ? 'our doing' : 'its own doing';
    }
    if (this.#writing === 0 && this.#unsettled) {
      this.#agreesSinceMs ??= nowMs;
      if (this.#isProven || nowMs - this.#agreesSinceMs >= TAKES_EFFECT_MS) this.#unsettled = false;
    }
    return 'as wanted';
  }
}

/** An excitation with the guard of a trial. */
export interface GuardedExcitation extends Excitation {
  /**
   * The controller ends the excitation if the measured value is further than this from the setpoint; 0 = no
   * guard.
   */
  readonly deviation: number;
}

/** The wanted excitation of a unit in debug mode. */
export class WantedExcitation {
  readonly #emit: (event: UnitEvent) => void;
  /** Undefined if no excitation is wanted. */
  current: Excitation | undefined;
  /**
   * The distance from the setpoint at which the guard ends the excitation. If undefined, the loop's own bound
   * applies.
   */
  runaway: number | undefined;

  constructor(emit: (event: UnitEvent) => void) {
    this.#emit = emit;
  }

  want(excitation: Excitation | undefined, runaway?: number): void {
    if (excitation === undefined || excitation.amplitude === 0) {
      this.end();
      return;
    }
    this.runaway = runaway;
    if (this.is(excitation)) return;
    this.current = excitation;
    this.#emit({ what: 'excitation', detail: { ...excitation } });
  }

  /** From now on no excitation is wanted. `why` is for an end that nobody asked for. */
  end(why?: ExcitationEnd): void {
    const isNew = this.current !== undefined;
    this.current = undefined;
    this.runaway = undefined;
    if (isNew) this.#emit({ what: 'excitation', detail: { amplitude: 0, ...(why && { why }) } });
  }

  /** Compares as float32, the precision of controllers. All excitations without amplitude are equal. */
  is(excitation: Excitation | undefined): boolean {
    const wanted = this.current;
    const [a, b] = [excitation?.amplitude ?? 0, wanted?.amplitude ?? 0].map(Math.fround);
    if (a !== b) return false;
    if (a === 0 || excitation === undefined || wanted === undefined) return true;
    return excitation.loop === wanted.loop && Math.fround(excitation.periodS) === Math.fround(wanted.periodS);
  }
}

/**
 * The next act on the latch. `set` latches. `resume` puts the controller into manual and unlatches it, because a
 * resume could not reach it. `unlatch` only unlatches, because an old frame of the daemon took effect late. `found`
 * stops the whole robot, because the controller latched without being asked.
 */
type LatchStep = 'set' | 'resume' | 'unlatch' | 'found';

/** The wanted latch of one controller, and the one that was last observed. */
export class WantedLatch {
  readonly frames = new UnsettledFrames();
  /** `released`: a release was answered 200, and the controller has not confirmed it yet. */
  #wanted: 'latched' | 'released' | 'as it is' = 'as it is';
  /** Whether a resume is under way. During a resume the latch is not corrected. */
  isUnderRelease = false;
  /** Whether the controller showed its latch at the last contact. Undefined before the first. */
  #shown: boolean | undefined;
  /** Whether a release was written since the latch was seen. */
  #releaseWritten = false;

  get isWanted(): boolean {
    return this.#wanted === 'latched';
  }

  /** Whether a resume is under way or has not reached this controller yet. */
  get isReleasing(): boolean {
    return this.isUnderRelease || this.hasMissedRelease;
  }

  /** Whether a release was answered 200 and has not reached this controller yet. */
  get hasMissedRelease(): boolean {
    return this.#wanted === 'released';
  }

  /** Whether the controller showed its latch and no release has been written since. */
  get holds(): boolean {
    return this.#shown === true && !this.#releaseWritten;
  }

  get step(): LatchStep | undefined {
    if (this.isUnderRelease || this.#shown === undefined) return undefined;
    if (this.#wanted === 'released') return 'resume';
    if (this.#wanted === 'latched') return this.#shown ? undefined : 'set';
    if (!this.#shown) return undefined;
    return this.frames.unsettled ? 'unlatch' : 'found';
  }

  /** Takes in whether the controller shows its latch. */
  saw(isLatched: boolean, nowMs: number): void {
    this.#shown = isLatched;
    this.frames.judge(this.#wanted !== 'released' && isLatched === this.isWanted, nowMs);
    if (isLatched && !this.frames.unsettled) this.#releaseWritten = false;
  }

  /** From now on the latch is wanted. A resume under way ends. */
  want(): void {
    this.#wanted = 'latched';
    this.isUnderRelease = false;
  }

  /** Call this when the resume was answered 200. `confirmed`: this controller has already confirmed its release. */
  released(confirmed: boolean): void {
    this.isUnderRelease = false;
    this.#wanted = confirmed ? 'as it is' : 'released';
  }

  /** Runs `write`, which may put a release on the bus until it settles. */
  writeRelease(write: (unsettled: boolean) => Promise<unknown>): Promise<void> {
    this.#releaseWritten = true;
    return this.frames.during(write);
  }
}
