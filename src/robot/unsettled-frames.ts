import { TAKES_EFFECT_MS } from '../protocol/registers.js';

/**
 * The frames of one kind (mode, latch or wave) that were written to a controller and may still take effect: the answer
 * may be lost, and the effect may come up to 20 ms later. While there are such frames, a difference is the daemon's own
 * doing and is mended. Otherwise the controller changed by itself, and that is adopted.
 */
export class UnsettledFrames {
  #writing = 0;
  #unsettled = false;
  #disturbances = 0;
  /** The time since which the controller shows what is wanted; undefined while it does not. */
  #agreesSinceMs: number | undefined;

  get unsettled(): boolean {
    return this.#unsettled;
  }

  /** Forgets what was seen before, because a frame may be under way. */
  disturb(): void {
    this.#unsettled = true;
    this.#disturbances += 1;
    this.#agreesSinceMs = undefined;
  }

  /** Runs `write`, which may put frames on the bus until it settles. */
  async during<T>(write: () => Promise<T>): Promise<T> {
    this.#writing += 1;
    this.disturb();
    try {
      return await write();
    } finally {
      this.#writing -= 1;
      this.disturb();
    }
  }

  /**
   * Does what `during` does, for a write whose effect can be proven. `write` resolves with true where one frame alone
   * went out and the controller now shows what it did not show before: then nothing of that frame is still to come. In
   * that case the returned act settles the frames at once, unless others were unsettled before or came meanwhile.
   */
  async duringProof(write: () => Promise<boolean>): Promise<() => void> {
    const wasSettled = !this.#unsettled;
    // `during` disturbs when it begins and when it ends.
    const disturbancesOfOne = this.#disturbances + 2;
    const isProven = await this.during(write);
    return () => {
      if (wasSettled && isProven && this.#disturbances === disturbancesOfOne) this.#unsettled = false;
    };
  }

  /**
   * Says whose doing it is that the controller differs from what is wanted. Frames count as settled once the controller
   * has agreed for as long as a frame may need to take effect, counted from the first look that began after the last
   * write had left the bus.
   */
  judge(agrees: boolean, nowMs: number): 'as wanted' | 'our doing' | 'its own doing' {
    if (!agrees) {
      this.#agreesSinceMs = undefined;
      return this.#unsettled ? 'our doing' : 'its own doing';
    }
    if (this.#writing === 0 && this.#unsettled) {
      this.#agreesSinceMs ??= nowMs;
      if (nowMs - this.#agreesSinceMs >= TAKES_EFFECT_MS) this.#unsettled = false;
    }
    return 'as wanted';
  }
}
