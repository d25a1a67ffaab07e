import type { Clock, Timer } from '../core/clock.js';
import { isRobotError, RobotError } from '../core/errors.js';
import { isMissing, type Missing } from './ports.js';

const RETRY_MS = 1000;

/** Something that can be missing now and there later, or the other way round: tried every second while it is missing. */
export class Reopened<T extends { release(): void }> {
  readonly #open: () => Promise<T>;
  readonly #clock: Clock;
  readonly #onLost: () => void;
  #current: T | Missing = { missing: 'Not opened yet', cure: 'Wait a moment.' };
  #retry: Timer | undefined;
  #closed = false;

  constructor(options: { open: () => Promise<T>; clock: Clock; onLost: () => void }) {
    this.#open = options.open;
    this.#clock = options.clock;
    this.#onLost = options.onLost;
  }

  get missing(): Missing | undefined {
    return isMissing(this.#current) ? this.#current : undefined;
  }

  /** Resolves after the first attempt, whatever came of it. */
  async start(): Promise<void> {
    try {
      const opened = await this.#open();
      if (this.#closed) opened.release();
      else this.#current = opened;
    } catch (error) {
      this.#isMissing(error);
    }
  }

  /** Throws `pin-failed`; what fails in use is released and opened anew. */
  use<R>(act: (opened: T) => R): R {
    const current = this.#current;
    if (isMissing(current)) throw new RobotError('pin-failed', { ...current });
    try {
      return act(current);
    } catch (error) {
      current.release();
      this.#isMissing(error);
      this.#onLost();
      throw error;
    }
  }

  /** Nothing is opened any more; what is open stays so, and in use, unless it is to be released. */
  close({ release }: { release: boolean }): void {
    this.#closed = true;
    this.#retry?.cancel();
    if (!release || isMissing(this.#current)) return;
    this.#current.release();
    this.#current = { missing: 'Released', cure: 'Start the daemon again.' };
  }

  #isMissing(error: unknown): void {
    this.#current = missingOf(error);
    if (!this.#closed) this.#retry = this.#clock.after(RETRY_MS, () => void this.start());
  }
}

function missingOf(error: unknown): Missing {
  const { missing = String(error), cure = 'Look at the kernel log with "dmesg".' } = isRobotError(
    error,
    'pin-failed',
    'addon-missing',
  )
    ? error.context
    : {};
  return { missing, cure };
}
