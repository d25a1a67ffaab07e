/** Two clocks run apart by less, in seconds a second. */
const DRIFT = 0.001;

/**
 * How much later than the quickest reading of its stream each one comes, in seconds; what the quickest took nobody knows.
 * `t` is the reading's moment on the daemon's clock, `nowS` that of its arrival on the page's.
 */
export function lateness(): (t: number, nowS: number) => number {
  let quickest = Number.POSITIVE_INFINITY;
  let lastT = 0;
  return (t, nowS) => {
    const took = nowS - t;
    // The browser connects again by itself, also to a daemon that was started anew and counts from elsewhere.
    quickest = t < lastT ? took : Math.min(took, quickest + DRIFT * (t - lastT));
    lastT = t;
    return took - quickest;
  };
}
