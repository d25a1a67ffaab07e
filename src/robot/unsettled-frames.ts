import { TAKES_EFFECT_MS } from '../protocol/registers.js';

/**
 * The frames of one kind (mode, latch or excitation) that were written to a controller and may still take effect. The
 * answer may be lost, and the effect may come up to 20 ms later. While there are such frames, a difference is the
 * daemon's own doing and is mended. Otherwise the controller changed by itself, and that is adopted.
 */
export class UnsettledFrames {
  #writing = 0;
  #unsettled = false;
  #disturbances = 0;
  /** Whether only one frame is unsettled, and it has taken full effect. */
  #isProven = false;
  /** The time since which the controller shows what is wanted; undefined while it does not. */
  #agreesSinceMs: number | undefined;

  get unsettled(): boolean {
    return this.#unsettled;
  }

  /** Forgets what was seen before, because a frame may be under way. */
  disturb(): void {
    this.#unsettled = true;
    this.#disturbances += 1;
    this.#isProven = false;
    this.#agreesSinceMs = undefined;
  }

  /**
   * Runs `write`, which may put frames on the bus until it settles. Tells it whether earlier frames may still take effect.
   * It resolves with true if it proves its effect: only one frame went out, and the controller now shows what it did not
   * show before. Then the frame has taken full effect.
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
      this.#isProven = result === true && !wasUnsettled && isAlone;
    }
  }

  /**
   * Says who caused a difference between the controller and what is wanted. After a proof, frames settle as soon as the
   * controller agrees. Otherwise it has to agree for as long as a frame may need to take effect.
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
