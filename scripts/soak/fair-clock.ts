import { readFileSync } from 'node:fs';

/**
 * Time as a daemon has it, and the soak that asks it: while one of them is ready to run and waits for a processor that
 * another program has, it stands still. So what is late on a busy machine is late only where the daemon is slow.
 */
export class FairClock {
  readonly #threads: readonly string[];
  /** The time that each process has waited; for one that is gone, the last that was seen. */
  readonly #waitedMs = new Map<string, number>();

  constructor(pid: number) {
    this.#threads = ['self', String(pid)];
  }

  /** Milliseconds from an arbitrary start. */
  nowMs(): number {
    return performance.now() - this.withheldMs;
  }

  /** How long the event loops of both have waited for a processor since they started. */
  get withheldMs(): number {
    return this.#threads.reduce((sum, thread) => sum + this.#waited(thread), 0);
  }

  /** Resolves with the answer, or with undefined when it has not come after `limitMs` of this time. */
  async within<T>(limitMs: number, answer: Promise<T>): Promise<T | undefined> {
    const untilMs = this.nowMs() + limitMs;
    const late = Symbol('late');
    for (let leftMs = limitMs; leftMs > 0; leftMs = untilMs - this.nowMs()) {
      let timer: NodeJS.Timeout | undefined;
      const limit = new Promise<typeof late>(resolve => {
        timer = setTimeout(() => resolve(late), Math.max(1, leftMs));
      });
      const end = await Promise.race([answer, limit]).finally(() => clearTimeout(timer));
      if (end !== late) return end;
    }
    return undefined;
  }

  /** Linux counts it, of the thread that the event loop has. */
  #waited(thread: string): number {
    try {
      const [, waitedNs] = readFileSync(`/proc/${thread}/schedstat`, 'utf8').split(' ');
      this.#waitedMs.set(thread, Number(waitedNs) / 1e6);
    } catch {
      // It has ended.
    }
    return this.#waitedMs.get(thread) ?? 0;
  }
}
