import type { Clock, Timer } from '../core/clock.js';
import { isRobotError, RobotError } from '../core/errors.js';
import { isMissing, type Missing } from './ports.js';

const RETRY_MS = 1000;

/**
 * A device that may disappear and return. While it is missing, it is opened again every second. If it fails
 * after more than a second in use, it is opened again at once.
 */
export class Reopened<T extends { release(): void }> {
  readonly #open: () => Promise<T>;
  readonly #clock: Clock;
  readonly #onLost: () => void;
  #current: T | Missing = { missing: 'Not opened yet', cure: 'Wait a moment.' };
  #openedMs = Number.NEGATIVE_INFINITY;
  #retry: Timer | undefined;
  #closed = false;

  constructor(clock: Clock, open: () => Promise<T>, onLost = () => {}) {
    this.#clock = clock;
    this.#open = open;
    this.#onLost = onLost;
  }

  get missing(): Missing | undefined {
    return isMissing(this.#current) ? this.#current : undefined;
  }

  /** Tries to open the device once. Resolves even if that fails. */
  async start(): Promise<void> {
    try {
      const opened = await this.#open();
      this.#openedMs = this.#clock.nowMs();
      if (this.#closed) opened.release();
      else this.#current = opened;
    } catch (error) {
      this.#isMissing(error, RETRY_MS);
    }
  }

  /** Calls `act` with the open device. Throws `pin-failed`. A device that fails in use is released and opened again. */
  use<R>(act: (opened: T) => R): R {
    const current = this.#current;
    if (isMissing(current)) throw new RobotError('pin-failed', { ...current });
    try {
      return act(current);
    } catch (error) {
      current.release();
      const wasThere = this.#clock.nowMs() - this.#openedMs > RETRY_MS;
      this.#isMissing(error, wasThere ? 0 : RETRY_MS);
      this.#onLost();
      throw error;
    }
  }

  /** Opens nothing from now on. An open device stays in use unless `release` is true. */
  close({ release }: { release: boolean }): void {
    this.#closed = true;
    this.#retry?.cancel();
    if (!release || isMissing(this.#current)) return;
    this.#current.release();
    this.#current = { missing: 'Released', cure: 'Start the daemon again.' };
  }

  #isMissing(error: unknown, retryMs: number): void {
    const known = isRobotError(error, 'pin-failed', 'addon-missing') ? error.context : {};
    const { missing = String(error), cure = 'Look at the kernel log with "dmesg".' } = known;
    this.#current = { missing, cure };
    if (!this.#closed) this.#retry = this.#clock.after(retryMs, () => void this.start());
  }
}
