import { randomBytes } from 'node:crypto';
import type { Clock } from '../core/clock.js';
import { Listeners } from '../core/listeners.js';
import type { Happening, LogEvent, LogPage } from '../schemas/log.js';
import { Repeats } from './repeats.js';

/**
 * How many events are kept in memory. Refusals have a share of their own, so that they never push out what was done.
 */
const MOST = { done: 400, refused: 100 } as const;

/** Makes every event: what was asked of the robot, and what it did by itself. */
export class EventLog {
  readonly runId: string;
  readonly recorded = new Listeners<LogEvent>();
  readonly #clock: Clock;
  readonly #repeats: Repeats;
  readonly #done: LogEvent[] = [];
  readonly #refused: LogEvent[] = [];
  #seq: number;

  /** Numbers go on after `lastSeq`, the last one of the daemon's run before. */
  constructor(clock: Clock, { runId = newRunId(), lastSeq = 0 }: { runId?: string; lastSeq?: number } = {}) {
    this.runId = runId;
    this.#clock = clock;
    this.#seq = lastSeq;
    this.#repeats = new Repeats(clock, happening => this.#add(happening));
  }

  record(happening: Happening): void {
    if (this.#repeats.isNew(happening)) this.#add(happening);
  }

  /** The events with higher numbers, at most 500, for no more are kept in memory. */
  after(seq: number): LogPage {
    const events = [...this.#done, ...this.#refused].filter(event => event.seq > seq);
    events.sort((a, b) => a.seq - b.seq);
    return { boot: this.runId, events, dropped: Math.max(0, this.#seq - seq) - events.length };
  }

  close(): void {
    this.#repeats.close();
  }

  #add(happening: Happening): void {
    this.#seq += 1;
    const event: LogEvent = {
      seq: this.#seq,
      t: Math.round(this.#clock.nowMs()) / 1000,
      at: this.#clock.wallTime().toISOString(),
      ...happening,
    };
    const [kept, most] = isRefusal(happening) ? [this.#refused, MOST.refused] : [this.#done, MOST.done];
    kept.push(event);
    if (kept.length > most) kept.shift();
    this.recorded.emit(event);
  }
}

/** A name for this run of the daemon, from its start to its end. In the log and its answers it is called `boot`. */
export function newRunId(): string {
  return randomBytes(8).toString('hex');
}

/** Whether somebody asked for it and was refused. */
function isRefusal({ outcome }: Happening): boolean {
  return outcome !== undefined && outcome !== 'done';
}
