import { UnsettledFrames } from './unsettled-frames.js';

/**
 * What has to be done about the latch: set it; go into manual and end it, since a resume could not reach this controller;
 * end it, since an old frame of ours took effect late; or stop the whole robot, since the controller latched by itself.
 */
type LatchStep = 'set' | 'resume' | 'unlatch' | 'found';

/** The latch that is wanted of one controller, and what was last observed of it. */
export class WantedLatch {
  readonly frames = new UnsettledFrames();
  /** `released` is a release that was answered 200 and that the controller has not confirmed yet. */
  #wanted: 'latched' | 'released' | 'as it is' = 'as it is';
  /** A resume is under way: the latch may be set or ended. */
  #releasing = false;
  /** Whether the controller showed its latch when it was last heard from; undefined before. */
  #shown: boolean | undefined;
  /** A release was written since the latch was seen. */
  #releaseWritten = false;

  get isWanted(): boolean {
    return this.#wanted === 'latched';
  }

  /** A resume is under way, or has not reached this controller yet. */
  get isReleasing(): boolean {
    return this.#releasing || this.hasMissedRelease;
  }

  /** A release was answered 200 and has not reached this controller yet. */
  get hasMissedRelease(): boolean {
    return this.#wanted === 'released';
  }

  /** The controller showed its latch, and no release has been written since. */
  get holds(): boolean {
    return this.#shown === true && !this.#releaseWritten;
  }

  get step(): LatchStep | undefined {
    if (this.#releasing || this.#shown === undefined) return undefined;
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

  /** From now on the controller has to be latched; a release under way has lost. */
  want(): void {
    this.#wanted = 'latched';
    this.#releasing = false;
  }

  beginRelease(): void {
    this.#releasing = true;
  }

  /** The resume was refused: what was wanted before it is wanted still. */
  endRelease(): void {
    this.#releasing = false;
  }

  /** The resume holds; `confirmed` where this controller has heard of it. */
  released(confirmed: boolean): void {
    this.#releasing = false;
    this.#wanted = confirmed ? 'as it is' : 'released';
  }

  /** A release may be on the bus until `write` settles. */
  writeRelease<T>(write: () => Promise<T>): Promise<T> {
    this.#releaseWritten = true;
    return this.frames.during(write);
  }
}
