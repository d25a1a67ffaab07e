import type { Socket } from 'node:net';
import type { Clock } from '../core/clock.js';

/** A timer that is later than this shows that the process could not read what came (milliseconds). */
const LATE_MS = 10;

/** Since when something may be unread. */
class Backlog {
  readonly #sinceMs = new Set<{ readonly ms: number }>();

  get sinceMs(): number {
    return Math.min(...[...this.#sinceMs].map(({ ms }) => ms));
  }

  /**
   * Remembers the time for two turns of the event loop. A turn reads from every open connection, so afterwards nothing
   * is left.
   */
  remember(ms: number): void {
    const since = { ms };
    this.#sinceMs.add(since);
    setImmediate(() => setImmediate(() => this.#sinceMs.delete(since)));
  }
}

/**
 * Says when requests may have come. Linux keeps what comes while the process is paused or busy, and does not tell when it
 * came. A timer that runs late tells it, to within the time between two runs.
 */
export class Arrivals {
  readonly #clock: Clock;
  #dueMs = Number.POSITIVE_INFINITY;
  readonly #unread = new Backlog();
  readonly #firstRequests = new WeakMap<Socket, Backlog>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Call this when the timer runs, with the time at which it is due next. */
  timerRan(nextDueMs: number): void {
    const sinceMs = this.#dueMs;
    this.#dueMs = nextDueMs;
    if (this.#clock.nowMs() - sinceMs <= LATE_MS) return;
    this.#unread.remember(sinceMs);
  }

  /**
   * Call this when a server begins to answer. What came before may have waited for any time. Returns the function to call
   * when the server has accepted a connection.
   */
  accepting(): (socket: Socket) => void {
    this.#unread.remember(Number.NEGATIVE_INFINITY);
    // A turn accepts one connection. So those that wait came since the last turn that accepted none.
    const queue = new Backlog();
    return socket => {
      const sinceMs = Math.min(queue.sinceMs, this.#earliestMs());
      const firstRequest = new Backlog();
      for (const backlog of [queue, firstRequest]) backlog.remember(sinceMs);
      this.#firstRequests.set(socket, firstRequest);
    };
  }

  /** The earliest time at which the request that is read from this connection now may have come (Clock milliseconds). */
  earliestMs(socket: Socket): number {
    const firstMs = this.#firstRequests.get(socket)?.sinceMs ?? Number.POSITIVE_INFINITY;
    return Math.min(firstMs, this.#earliestMs());
  }

  /**
   * Since when the process may have read nothing (Clock milliseconds). It is now unless the process was paused. Connections
   * that wait do not count: a stranger can make them wait.
   */
  get pausedSinceMs(): number {
    const sinceMs = this.#earliestMs();
    return Number.isFinite(sinceMs) ? sinceMs : this.#clock.nowMs();
  }

  #earliestMs(): number {
    return Math.min(this.#unread.sinceMs, this.#dueMs, this.#clock.nowMs());
  }
}
