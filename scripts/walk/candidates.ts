interface Event<T> {
  readonly value: T;
  /** Places in the order of all that happened. It took effect at one of them, or between. */
  readonly from: number;
  readonly to: number;
}

/**
 * The values that may hold now. What is sure replaces everything that had ended before it began; of two that overlapped
 * either may have come last.
 */
export class Candidates<T> {
  #events: Event<T>[];

  constructor(value: T, from = 0, to = 0) {
    this.#events = [{ value, from, to }];
  }

  get values(): readonly T[] {
    return [...new Set(this.#events.map(({ value }) => value))];
  }

  can(value: T): boolean {
    return this.#events.some(event => event.value === value);
  }

  must(value: T): boolean {
    return this.#events.every(event => event.value === value);
  }

  /** All that was possible before is over. */
  are(values: readonly T[], at: number): void {
    this.#events = values.map(value => ({ value, from: at, to: at }));
  }

  sure(value: T, from: number, to: number): void {
    this.#events = this.#events.filter(event => event.to >= from);
    this.#events.push({ value, from, to });
  }

  maybe(value: T, from: number, to: number): void {
    this.#events.push({ value, from, to });
  }
}
