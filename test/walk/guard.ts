/** Keeps the first error of a walk, usually a BrokenPromise. */
export class Guard {
  #error: unknown;

  get isBroken(): boolean {
    return this.#error !== undefined;
  }

  readonly keep = (error: unknown): void => {
    this.#error ??= error;
  };

  /** Keeps an error of `act`. */
  run(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.keep(error);
    }
  }

  /** Throws the error that was kept. */
  check(): void {
    if (this.#error !== undefined) throw this.#error;
  }
}
