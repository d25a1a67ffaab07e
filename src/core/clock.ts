/** Time as an argument, so that tests need not wait. */
export interface Clock {
  /** Monotonic milliseconds from an arbitrary start. */
  nowMs(): number;
  /** Calls `act` once, `delayMs` from now, unless cancelled first. A delay below 0 counts as 0. */
  after(delayMs: number, act: () => void): Timer;
  /** Wall time for people. It may jump. */
  wallTime(): Date;
}

export interface Timer {
  cancel(): void;
}

/** Resolves after this time. */
export function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise(resolve => clock.after(ms, resolve));
}

/** Waits until the work has resolved or rejected, or until the time is over. Returns whether the work has ended. */
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

/** Resolves as `work` does. Rejects with the reason as soon as the signal is aborted. */
export function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  return Promise.race([work, aborted]);
}

export const systemClock: Clock = {
  nowMs: () => performance.now(),
  after: (delayMs, act) => {
    const timer = setTimeout(act, Math.max(0, delayMs));
    return { cancel: () => clearTimeout(timer) };
  },
  wallTime: () => new Date(),
};

/** Calls `act` every `periodMs`. Returns a function that stops the calls. */
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
