/** Runs pieces of work one after the other, in the order in which they were added. */
export class WorkQueue {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs the work after all earlier work, even if that failed. Settles as the work does. */
  add<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work, work);
    this.#last = done;
    return done;
  }
}
