import { randomBytes } from 'node:crypto';
import type { Clock } from '../core/clock.js';
import { Listeners } from '../core/listeners.js';
import type { LogEvent, LogPage, NewEvent } from '../schemas/log.js';
import { timesOf } from './log-line.js';
import { PerMinute } from './per-minute.js';

/** The acts and the counted requests that stay in memory. */
const KEPT_ACTS = 400;
const KEPT_COUNTED = 100;

interface Counted {
  readonly event: NewEvent;
  /** The caller; empty for all callers without a right to act together. */
  readonly by: string;
}

/**
 * Numbers and keeps all events in two groups. Acts changed something: the robot made them, or a caller. Requests that
 * were refused or changed nothing are counted.
 */
export class MemoryLog {
  readonly runId: string;
  readonly recorded = new Listeners<{ event: LogEvent; error: unknown }>();
  readonly #clock: Clock;
  readonly #acts: LogEvent[] = [];
  readonly #counted: { readonly event: LogEvent; readonly by: string }[] = [];
  readonly #perMinute: PerMinute<Counted>;
  #seq: number;
  #changes = 0;
  /** Whether a line of somebody else followed the last line about callers without a right to act. */
  #isStrangersTurn = true;

  /** The first event gets the number after `lastSeq`. */
  constructor(clock: Clock, { runId = newRunId(), lastSeq = 0 }: { runId?: string; lastSeq?: number } = {}) {
    this.runId = runId;
    this.#clock = clock;
    this.#seq = lastSeq;
    const tell = ({ event, by }: Counted, repeats: number) =>
      this.#keepCounted({ ...event, detail: { ...event.detail, repeats } }, by);
    // Without this limit, a flood of many days would displace the lines of others on the disk.
    this.#perMinute = new PerMinute(clock, tell, ({ by }) => by !== '' || this.#isStrangersTurn);
  }

  /** The number of changes to the robot and to the match so far. */
  get changes(): number {
    return this.#changes;
  }

  /** Counts a change that has no event of its own. */
  noteChange(): void {
    this.#changes += 1;
  }

  /** Records an act: a change that the robot made, or a request that changed something. */
  record(event: NewEvent): void {
    if (event.who === undefined) this.noteChange();
    this.#isStrangersTurn = true;
    const line = this.#lineOf(event);
    this.#acts.push(line);
    if (this.#acts.length > KEPT_ACTS) this.#acts.shift();
    this.recorded.emit({ event: line, error: event.error });
  }

  /**
   * Records a request. It is an act if it changed something and its caller has a right other than `read`. Otherwise it is
   * counted: equal requests within a minute share two lines. All refusals of callers without such a right count as equal.
   */
  recordRequest(event: NewEvent, { mayAct, changed }: { mayAct: boolean; changed: boolean }): void {
    const by = mayAct && !this.#perMinute.isFull ? (event.who ?? '') : '';
    const { what, unit, outcome, detail } = event;
    const isDone = outcome === 'done';
    const unlisted = {
      what: 'unlisted',
      detail: { ...(isDone && { act: what }), ...(changed && { changed }) },
    };
    const kind = JSON.stringify(by === '' ? unlisted : [by, what, unit, outcome, isDone && detail]);
    const counted = { event: by === '' ? unlisted : event, by };
    if (mayAct && changed) {
      this.#perMinute.begin(kind, counted);
      this.record(event);
    } else if (this.#perMinute.isFirst(kind, counted)) this.#keepCounted(event, by);
  }

  /** The events after this number that are still in memory, at most 500. */
  after(seq: number): LogPage {
    const events = [...this.#acts, ...this.#counted.map(({ event }) => event)].filter(
      event => event.seq > seq,
    );
    events.sort((a, b) => a.seq - b.seq);
    return { boot: this.runId, events, dropped: Math.max(0, this.#seq - seq) - events.length };
  }

  close(): void {
    this.#perMinute.close();
  }

  #keepCounted(event: NewEvent, by: string): void {
    this.#isStrangersTurn = by !== '';
    const line = this.#lineOf(event);
    this.#counted.push({ event: line, by });
    if (this.#counted.length > KEPT_COUNTED) this.#dropCounted();
    this.recorded.emit({ event: line, error: event.error });
  }

  /** The caller with the most lines loses the oldest one. */
  #dropCounted(): void {
    const numbers = new Map<string, number>();
    for (const { by } of this.#counted) numbers.set(by, (numbers.get(by) ?? 0) + 1);
    const most = Math.max(...numbers.values());
    const oldest = this.#counted.findIndex(({ by }) => numbers.get(by) === most);
    this.#counted.splice(oldest, 1);
  }

  #lineOf({ what, unit, who, outcome, detail }: NewEvent): LogEvent {
    this.#seq += 1;
    return { seq: this.#seq, ...timesOf(this.#clock), what, unit, who, outcome, detail };
  }
}

/** Names this run of the daemon, from its start to its end. In log and answers this name is called `boot`. */
export function newRunId(): string {
  return randomBytes(8).toString('hex');
}
