import type { Excitation } from '../core/units.js';
import type { UnitEvent } from './robot-event.js';
import { UnsettledFrames } from './unsettled-frames.js';

/** An excitation with the guard of a trial. */
export interface GuardedExcitation extends Excitation {
  /** The controller ends the excitation if the loop deviates by more than this; 0 = no guard. */
  readonly deviation: number;
}

/** The wanted excitation of a unit in debug mode. */
export class WantedExcitation {
  readonly #emit: (event: UnitEvent) => void;
  /** Undefined if none is wanted. */
  current: Excitation | undefined;
  /** The requested limit of the deviation. Undefined for the loop's own bound. */
  runaway: number | undefined;

  constructor(emit: (event: UnitEvent) => void) {
    this.#emit = emit;
  }

  want(excitation: Excitation | undefined, runaway?: number): void {
    this.runaway = runaway;
    const moving = excitation?.amplitude === 0 ? undefined : excitation;
    if (this.is(moving)) return;
    this.current = moving;
    this.#emit({ what: 'excitation', detail: moving === undefined ? { amplitude: 0 } : { ...moving } });
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

  /** The resume was answered 200. `confirmed`: this controller has already confirmed its release. */
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
