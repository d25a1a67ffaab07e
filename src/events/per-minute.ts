import type { Clock, Timer } from '../core/clock.js';

const MINUTE_MS = 60_000;
const MOST_KINDS = 1000;

interface Kind<Line> {
  readonly first: Line;
  repeats: number;
  timer: Timer;
}

/** The first line of each kind is written at once. Its repeats are counted, and `tell` gets their number a minute later. */
export class PerMinute<Line> {
  readonly #kinds = new Map<string, Kind<Line>>();
  readonly #clock: Clock;
  readonly #tell: (first: Line, repeats: number) => void;
  readonly #mayTell: (first: Line) => boolean;

  /** While `mayTell` is false, the repeats are counted for another minute. */
  constructor(
    clock: Clock,
    tell: (first: Line, repeats: number) => void,
    mayTell: (first: Line) => boolean = () => true,
  ) {
    this.#clock = clock;
    this.#tell = tell;
    this.#mayTell = mayTell;
  }

  /** True if lines should be counted under a common kind, so that the memory does not grow. */
  get isFull(): boolean {
    return this.#kinds.size >= MOST_KINDS;
  }

  /** Returns whether the line is the first of its kind. Counts it if it is not. */
  isFirst(kind: string, line: Line): boolean {
    const known = this.#kinds.get(kind);
    if (known === undefined) this.begin(kind, line);
    else known.repeats += 1;
    return known === undefined;
  }

  /** Counts later lines of this kind. The caller has written this one. */
  begin(kind: string, line: Line): void {
    if (!this.#kinds.has(kind)) this.#kinds.set(kind, { first: line, repeats: 0, timer: this.#wait(kind) });
  }

  close(): void {
    for (const kind of [...this.#kinds.keys()]) this.#end(kind);
  }

  #wait(kind: string): Timer {
    return this.#clock.after(MINUTE_MS, () => {
      const known = this.#kinds.get(kind);
      if (known === undefined) return;
      if (this.#mayTell(known.first)) this.#end(kind);
      else known.timer = this.#wait(kind);
    });
  }

  #end(kind: string): void {
    const { first, repeats = 0, timer } = this.#kinds.get(kind) ?? {};
    timer?.cancel();
    this.#kinds.delete(kind);
    if (first !== undefined && repeats > 0) this.#tell(first, repeats);
  }
}
