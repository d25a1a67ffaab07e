/** Time as an argument, so that tests need not wait for it. */
export interface Clock {
  /** Monotonic milliseconds from an arbitrary start. */
  nowMs(): number;
  /** Calls `act` once, `delayMs` from now, unless cancelled first. */
  after(delayMs: number, act: () => void): Timer;
  /** The calendar, for what people read; it may jump. */
  wallTime(): Date;
}

export interface Timer {
  cancel(): void;
}

/** Resolves when the work has ended, however it ended, or when the time is over. Returns whether it has ended. */
export function endedWithin(clock: Clock, limitMs: number, work: Promise<unknown>): Promise<boolean> {
  return new Promise(resolve => {
    const limit = clock.after(limitMs, () => resolve(false));
    const end = () => {
      limit.cancel();
      resolve(true);
    };
    work.then(end, end);
  });
}

export const systemClock: Clock = {
  nowMs: () => performance.now(),
  after: (delayMs, act) => {
    const timer = setTimeout(act, delayMs);
    return { cancel: () => clearTimeout(timer) };
  },
  wallTime: () => new Date(),
};

/** Calls `act` every `periodMs`. Returns the act that ends it. */
export function every(clock: Clock, periodMs: number, act: () => void): () => void {
  let timer: Timer;
  const next = () => {
    timer = clock.after(periodMs, () => {
      act();
      next();
    });
  };
  next();
  return () => timer.cancel();
}
