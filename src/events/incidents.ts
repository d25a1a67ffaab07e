import type { Logger } from 'pino';
import type { Clock, Timer } from '../core/clock.js';
import { describeError, isRobotError } from '../core/errors.js';

const SUMMARY_MS = 60_000;

/** Logs an incident once, and its repeats in one line a minute: a flapping cable must not fill the disk. */
export class Incidents {
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #open = new Map<string, { repeats: number; end: Timer }>();

  constructor(options: { log: Logger; clock: Clock }) {
    this.#log = options.log;
    this.#clock = options.clock;
  }

  record(unit: string, what: string, error?: unknown): void {
    const code = isRobotError(error) ? error.code : undefined;
    const key = `${unit} ${what} ${code}`;
    const known = this.#open.get(key);
    if (known !== undefined) {
      known.repeats += 1;
      return;
    }
    this.#log.warn({ unit, ...(error !== undefined && describeError(error)) }, what);
    const incident = {
      repeats: 0,
      end: this.#clock.after(SUMMARY_MS, () => {
        this.#open.delete(key);
        const { repeats } = incident;
        if (repeats > 0)
          this.#log.warn({ unit, code, repeats, withinS: SUMMARY_MS / 1000 }, `${what}, repeatedly`);
      }),
    };
    this.#open.set(key, incident);
  }

  close(): void {
    for (const { end } of this.#open.values()) end.cancel();
    this.#open.clear();
  }
}
