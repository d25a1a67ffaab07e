import { effect, untracked } from '@preact/signals';
import { type Insisting, STOP } from '../daemon/asks.js';
import { Part, type Whole } from './whole.js';

/**
 * Knows the newest STOP that was pressed on this page, and whether the robot is stopped. The press is forgotten when the
 * status shows that the robot is stopped, or that a caller has resumed it.
 */
export class Stop extends Part {
  constructor(whole: Whole) {
    super(whole);
    effect(() => {
      const { stopped } = this;
      // The status may be older than the answer. Only a status that arrives after the answer says whether the robot
      // is stopped.
      const press = untracked(() => this.press);
      if (press === undefined || press.fate.state.peek() === 'pending') return;
      if (stopped || (stopped === false && this.#wasResumed(press))) whole.daemon.asks.forget(STOP);
    });
  }

  /** The newest STOP, until the page no longer needs to show it. */
  get press(): Insisting | undefined {
    return this.whole.daemon.asks.insisting(STOP);
  }

  /** Undefined while it is unknown. */
  get stopped(): boolean | undefined {
    const { fresh, status } = this.whole;
    return fresh.value ? status.value?.stopped : undefined;
  }

  get isUnanswered(): boolean {
    return this.press?.fate.state.value === 'pending';
  }

  /** True while the page must not lose the STOP. */
  get isOwed(): boolean {
    return this.isUnanswered || this.press?.fate.state.value === 'refused';
  }

  /** Call this for each status. A status tells more than the answer to a STOP. */
  heardStatus(): void {
    if (this.press?.fate.state.value === 'done') this.whole.daemon.asks.forget(STOP);
  }

  /**
   * True if the daemon obeyed this STOP and has not restarted since. If the robot is then not stopped, a caller has
   * resumed it.
   */
  #wasResumed({ fate: { refusal }, sentMs }: Insisting): boolean {
    const isObeyed = refusal?.code === 'not-confirmed' || refusal?.code === 'pin-failed';
    const { status, clock } = this.whole;
    const ranMs = 1000 * (status.value?.uptimeS ?? 0);
    return isObeyed && ranMs > clock.nowMs() - sentMs;
  }
}
