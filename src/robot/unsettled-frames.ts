import { TAKES_EFFECT_MS } from '../protocol/registers.js';

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
   * Whether the controller shows the wanted value, or frames of the daemon explain why it does not. After a proof,
   * frames settle as soon as the controller agrees. Otherwise the controller must agree for as long as a frame may need
   * to take effect.
   */
  explain(agrees: boolean, nowMs: number): boolean {
    if (!agrees) {
      this.#agreesSinceMs = undefined;
      return this.#unsettled;
    }
    if (this.#writing === 0 && this.#unsettled) {
      this.#agreesSinceMs ??= nowMs;
      if (this.#isProven || nowMs - this.#agreesSinceMs >= TAKES_EFFECT_MS) this.#unsettled = false;
    }
    return true;
  }
}
