import type { Socket } from 'node:net';
import type { Clock } from '../core/clock.js';

/** A timer that is later than this shows that the process could not read what came (milliseconds). */
const LATE_MS = 10;

/** When a request may have come (Clock milliseconds). */
export interface Arrival {
  /** The earliest time at which it may have come. */
  readonly receivedMs: number;
  /**
   * The same, without the time for which its connection may have waited to be accepted: a stranger can make it wait.
   * It is now unless the process was paused, or the request waited for another one on its connection.
   */
  readonly unreadSinceMs: number;
}

/** Nobody can tell the order of two acts of different people within this time. */
const SAME_TIME_MS = 50;
/** The longest time for which a connection waits to be accepted behind a crowd of 4,000, on a slow and busy board. */
const QUEUE_MS = 5000;

/**
 * What was read after this time may be newer than the request, and stays in force if it restricts the robot. It is now,
 * unless the request may have waited for more than a moment.
 */
export function sinceMs({ receivedMs, unreadSinceMs }: Arrival, nowMs: number): number {
  const ms = Math.min(unreadSinceMs, Math.max(receivedMs, nowMs - QUEUE_MS));
  return nowMs - ms > SAME_TIME_MS ? ms : nowMs;
}

/** Since when something may be unread. Infinity means that nothing is. */
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
  /** Of the last request of each connection; before the first request, of the connection. */
  readonly #last = new WeakMap<Socket, Arrival>();

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
      this.#last.set(socket, this.#now(socket));
    };
  }

  /**
   * Call this once for each request of this connection, in order. All that is known of a request that waited for the one
   * before is that it came later than that one.
   */
  read(socket: Socket, hasWaited: boolean): Arrival {
    const last = hasWaited ? this.#last.get(socket) : undefined;
    const arrival = last ?? this.#now(socket);
    this.#last.set(socket, arrival);
    return arrival;
  }

  #now(socket: Socket): Arrival {
    const earliestMs = this.#earliestMs();
    const firstMs = this.#firstRequests.get(socket)?.sinceMs ?? Number.POSITIVE_INFINITY;
    const unreadSinceMs = Number.isFinite(earliestMs) ? earliestMs : this.#clock.nowMs();
    return { receivedMs: Math.min(firstMs, earliestMs), unreadSinceMs };
  }

  #earliestMs(): number {
    return Math.min(this.#unread.sinceMs, this.#dueMs, this.#clock.nowMs());
  }
}
