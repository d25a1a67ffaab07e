import { createServer, type RequestListener, type Server } from 'node:http';
import type { Clock } from '../../src/core/clock.js';
import type { Port } from '../../src/daemon/port.js';
import { MemoryCall, type Sent } from './memory-call.js';

/** The grace period of pending requests at a clean shutdown, as in src/daemon/port.ts. */
const GRACE_MS = 200;

/** A port inside this process. It accepts requests only while the daemon serves. */
export class MemoryPort implements Port {
  readonly address = { address: '127.0.0.1', family: 'IPv4', port: 8080 };
  readonly url = 'http://localhost:8080';
  readonly #clock: Clock;
  readonly #calls = new Set<Pick<MemoryCall, 'answer' | 'hangUp'>>();
  #server: Server | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get serves(): boolean {
    return this.#server !== undefined;
  }

  serve(listener: RequestListener): void {
    this.#server = createServer({ requireHostHeader: false }, listener);
  }

  /** Sends a request. Returns undefined if no daemon serves. */
  send<Body>(sent: Sent): MemoryCall<Body> | undefined {
    if (this.#server === undefined) return undefined;
    const call = new MemoryCall<Body>(this.#server, sent);
    this.#calls.add(call);
    void call.answer.then(() => this.#calls.delete(call));
    return call;
  }

  async close(): Promise<void> {
    this.#server = undefined;
    const grace = new Promise<void>(resolve => this.#clock.after(GRACE_MS, resolve));
    await Promise.race([grace, Promise.all([...this.#calls].map(({ answer }) => answer))]);
    this.cut();
  }

  /** Drops all pending requests and accepts no more. */
  cut(): void {
    this.#server = undefined;
    for (const call of this.#calls) call.hangUp();
  }
}
