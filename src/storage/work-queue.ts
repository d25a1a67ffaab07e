/** Runs one piece of work at a time, so that a hanging disk blocks only one thread. */
export class WorkQueue {
  #last: Promise<void> = Promise.resolve();

  /** Runs the work after all earlier work. Resolves when it has ended. */
  add(work: () => Promise<void>): Promise<void> {
    this.#last = this.#last.then(work, work);
    return this.#last;
  }
}
