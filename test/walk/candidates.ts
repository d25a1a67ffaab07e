interface Event<T> {
  readonly value: T;
  /** The event took effect between these two event numbers, or at one of them. */
  readonly from: number;
  readonly to: number;
}

/**
 * The values that may hold now. An event that surely happened replaces all events that ended before it began. If two
 * events overlapped, either value may hold.
 */
export class Candidates<T> {
  #events: Event<T>[];

  constructor(value: T, from = 0, to = 0) {
    this.#events = [{ value, from, to }];
  }

  get values(): readonly T[] {
    return [...new Set(this.#events.map(({ value }) => value))];
  }

  /** The event number of the last event. */
  get lastAt(): number {
    return Math.max(...this.#events.map(({ to }) => to));
  }

  can(value: T): boolean {
    return this.#events.some(event => event.value === value);
  }

  must(value: T): boolean {
    return this.#events.every(event => event.value === value);
  }

  /** Only these values may hold from now on. */
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
