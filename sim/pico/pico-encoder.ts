/**
 * An encoder on the pins of a Pico. If it is `stuck`, no channel changes. If it is `toggling`, only channel A changes. If it is
 * `reversed`, its channels are swapped.
 */
export class PicoEncoder {
  readonly #read: () => number;
  #true: number;
  #counts: number;
  #changes = 0;
  failure: 'stuck' | 'toggling' | 'reversed' | undefined;

  /** `read` returns the counts of an encoder that works. */
  constructor(read: () => number) {
    this.#read = read;
    this.#true = read();
    this.#counts = this.#true;
  }

  /** Counts up and down. */
  get counts(): number {
    this.#follow();
    return this.#counts;
  }

  /** The changes of both channels. */
  get changes(): number {
    this.#follow();
    return this.#changes;
  }

  #follow(): void {
    const before = this.#true;
    this.#true = this.#read();
    if (this.failure === 'stuck') return;
    const [from, to] =
      this.failure === 'toggling' ? [edges(before), edges(this.#true)] : [before, this.#true];
    this.#changes += Math.abs(to - from);
    if (this.failure === 'toggling') this.#counts += (to & 1) - (from & 1);
    else this.#counts += this.failure === 'reversed' ? from - to : to - from;
  }
}

/** The changes of channel A from count 0 to this count. */
function edges(count: number): number {
  return (count + 1) >> 1;
}
