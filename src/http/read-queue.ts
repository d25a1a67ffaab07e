/** At most this many reads leave in a turn of the event loop. */
const PER_TURN = 4;
/** A read that has waited for this long leaves in the next turn, with all others that have. */
const LONGEST_MS = 100;

interface Read {
  readonly sinceMs: number;
  leave(): void;
}

/**
 * Reads yield to acts. A turn of the event loop answers all acts that have arrived, but only a few reads, so that an
 * act with many turns, such as a save, waits for few reads in each of them.
 */
export class ReadQueue {
  readonly #nowMs: () => number;
  readonly #nextTurn: (take: () => void) => void;
  /** The reads of callers with rights, which leave first, and those of all others. Each begins with the oldest. */
  readonly #queues: readonly [withRights: Read[], others: Read[]] = [[], []];

  constructor(nowMs: () => number, nextTurn: (take: () => void) => void = setImmediate) {
    this.#nowMs = nowMs;
    this.#nextTurn = nextTurn;
  }

  /** Resolves when the read may be answered. */
  wait(hasRights: boolean): Promise<void> {
    const [withRights, others] = this.#queues;
    return new Promise(leave => {
      if (this.#isEmpty()) this.#nextTurn(this.#take);
      (hasRights ? withRights : others).push({ sinceMs: this.#nowMs(), leave });
    });
  }

  readonly #take = (): void => {
    const overdueMs = this.#nowMs() - LONGEST_MS;
    let left = PER_TURN;
    for (const queue of this.#queues) {
      const late = queue.findIndex(({ sinceMs }) => sinceMs > overdueMs);
      const leaving = queue.splice(0, Math.max(left, late < 0 ? queue.length : late));
      left = Math.max(0, left - leaving.length);
      for (const { leave } of leaving) leave();
    }
    if (!this.#isEmpty()) this.#nextTurn(this.#take);
  };

  #isEmpty(): boolean {
    return this.#queues.every(({ length }) => length === 0);
  }
}
