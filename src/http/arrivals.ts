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
  /** A turn accepts only one of the connections that wait. */
  readonly #unaccepted = new Backlog();
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
    this.#unaccepted.remember(sinceMs);
  }

  /** Call this when a connection has been accepted. */
  accepted(socket: Socket): void {
    const { sinceMs } = this.#unaccepted;
    if (sinceMs === Number.POSITIVE_INFINITY) return;
    this.#unaccepted.remember(sinceMs);
    const firstRequest = new Backlog();
    firstRequest.remember(sinceMs);
    this.#firstRequests.set(socket, firstRequest);
  }

  /** The earliest time at which the request that is read from this connection now may have come (Clock milliseconds). */
  earliestMs(socket: Socket): number {
    const firstMs = this.#firstRequests.get(socket)?.sinceMs ?? Number.POSITIVE_INFINITY;
    return Math.min(firstMs, this.#unread.sinceMs, this.#dueMs, this.#clock.nowMs());
  }
}
