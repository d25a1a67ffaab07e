/** Two clocks drift apart by less than this, in seconds a second. */
const DRIFT = 0.001;

/**
 * Makes the function that says how much later than the quickest reading of its stream each reading arrives, in seconds. How
 * long the quickest took is unknown. `t` is the daemon's time of the reading, `nowS` the page's time of its arrival.
 */
export function lateness(): (t: number, nowS: number) => number {
  let quickest = Number.POSITIVE_INFINITY;
  let lastT = 0;
  return (t, nowS) => {
    const took = nowS - t;
    // The browser reconnects by itself, also to a restarted daemon, whose `t` starts at another value.
    quickest = t < lastT ? took : Math.min(took, quickest + DRIFT * (t - lastT));
    lastT = t;
    return took - quickest;
  };
}
