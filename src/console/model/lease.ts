/** Asks again and again for what lasts only as long as somebody asks; a page that is gone asks no more. */
export class Lease {
  /** What was asked for ends so long after the page is gone. It outlives one answer that is lost. */
  static readonly leaseS = 3;
  #timer = 0;

  hold(renew: () => unknown): void {
    this.drop();
    this.#timer = window.setInterval(renew, 1000);
  }

  drop(): void {
    clearInterval(this.#timer);
  }
}
