/** Does one piece of work at a time, so that a disk that hangs keeps one thread busy and no more. */
export class WorkQueue {
  #last: Promise<void> = Promise.resolve();

  /** Resolves when the work, which follows all work before it, has ended. */
  add(work: () => Promise<void>): Promise<void> {
    this.#last = this.#last.then(work, work);
    return this.#last;
  }
}
