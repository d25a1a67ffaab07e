import { createServer, type RequestListener, type Server } from 'node:http';
import type { Clock } from '../../src/core/clock.js';
import type { Port } from '../../src/daemon/port.js';
import { ask, type Call, type Request } from './caller.js';

/** The grace period of pending requests at a clean shutdown, as in src/daemon/port.ts. */
const GRACE_MS = 200;

/** A port inside this process. It accepts requests only while the daemon serves. */
export class MemoryPort implements Port {
  readonly address = { address: '127.0.0.1', family: 'IPv4', port: 0 };
  readonly url = 'http://localhost';
  readonly #clock: Clock;
  readonly #calls = new Set<Call<unknown>>();
  #server: Server | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get serves(): boolean {
    return this.#server !== undefined;
  }

  serve(listener: RequestListener): void {
    this.#server = createServer(listener);
  }

  /** Sends a request. Returns undefined if no daemon serves. */
  ask<Body>(request: Request): Call<Body> | undefined {
    if (this.#server === undefined) return undefined;
    const call = ask<Body>(this.#server, request);
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
