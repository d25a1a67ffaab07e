/** At most this many reads leave in a turn of the event loop. */
const PER_TURN = 4;
/** A caller with rights waits for at most this long. After this, a caller without rights no longer waits for those with rights. */
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
  /** The oldest first. */
  readonly #withRights: Read[] = [];
  readonly #others: Read[] = [];

  constructor(nowMs: () => number, nextTurn: (take: () => void) => void = setImmediate) {
    this.#nowMs = nowMs;
    this.#nextTurn = nextTurn;
  }

  /** Resolves when the read may be answered. */
  wait(hasRights: boolean): Promise<void> {
    return new Promise(leave => {
      if (this.#isEmpty()) this.#nextTurn(this.#take);
      (hasRights ? this.#withRights : this.#others).push({ sinceMs: this.#nowMs(), leave });
    });
  }

  readonly #take = (): void => {
    const overdue = (queue: readonly Read[]) => {
      const later = queue.findIndex(({ sinceMs }) => this.#nowMs() - sinceMs < LONGEST_MS);
      return later < 0 ? queue.length : later;
    };
    const first = this.#withRights.splice(0, Math.max(PER_TURN, overdue(this.#withRights)));
    // A crowd without rights may be larger than what can be answered in time, so its reads stay few in each turn.
    const few = Math.max(PER_TURN - first.length, Math.min(PER_TURN, overdue(this.#others)));
    for (const { leave } of [...first, ...this.#others.splice(0, few)]) leave();
    if (!this.#isEmpty()) this.#nextTurn(this.#take);
  };

  #isEmpty(): boolean {
    return this.#withRights.length === 0 && this.#others.length === 0;
  }
}
