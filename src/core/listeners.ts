/** The listeners to one kind of event. */
export class Listeners<T> {
  readonly #all = new Set<(event: T) => void>();

  get any(): boolean {
    return this.#all.size > 0;
  }

  /** Returns a function that removes the listener. */
  add(listener: (event: T) => void): () => void {
    this.#all.add(listener);
    return () => {
      this.#all.delete(listener);
    };
  }

  emit(event: T): void {
    for (const listener of this.#all) listener(event);
  }
}
