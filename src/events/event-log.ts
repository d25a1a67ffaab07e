import { randomBytes } from 'node:crypto';
import type { Clock } from '../core/clock.js';
import { Listeners } from '../core/listeners.js';
import type { LogEvent, LogPage, NewEvent } from '../schemas/log.js';
import { timesOf } from './log-line.js';
import { quota } from './quota.js';

/**
 * The groups of events. Each group keeps this many events in memory, and may write this many lines at once.
 * No group displaces the events of another.
 */
const GROUPS = {
  done: { kept: 400, lines: Number.POSITIVE_INFINITY },
  refused: { kept: 50, lines: 200 },
  reader: { kept: 25, lines: 100 },
  stranger: { kept: 25, lines: 32 },
} as const;
type Group = keyof typeof GROUPS;

/** A caller without a right to act: its token gives at most the right to read. */
export type Bystander = 'reader' | 'stranger';

/** Numbers and keeps all events: requests of callers, and changes that the robot made. */
export class EventLog {
  readonly runId: string;
  /** `hasRights` is false if the event is about bystanders. */
  readonly recorded = new Listeners<{ event: LogEvent; error: unknown; hasRights: boolean }>();
  readonly #clock: Clock;
  readonly #quotas: Readonly<Record<Group, ReturnType<typeof quota>>>;
  readonly #kept: Record<Group, LogEvent[]> = { done: [], refused: [], reader: [], stranger: [] };
  /** The key of the last successful act. Empty after a change that the robot made. */
  #lastDone = '';
  #seq: number;
  #changes = 0;

  /** The first event gets the number after `lastSeq`. */
  constructor(clock: Clock, { runId = newRunId(), lastSeq = 0 }: { runId?: string; lastSeq?: number } = {}) {
    this.runId = runId;
    this.#clock = clock;
    this.#seq = lastSeq;
    const of = (group: Group) => quota(clock, GROUPS[group].lines, event => this.#add(event, group));
    this.#quotas = {
      done: of('done'),
      refused: of('refused'),
      reader: of('reader'),
      stranger: of('stranger'),
    };
  }

  /** The number of changes to the robot and to the match so far. */
  get changes(): number {
    return this.#changes;
  }

  /** Counts a change that has no event of its own. */
  noteChange(): void {
    this.#changes += 1;
  }

  /**
   * Records a change that the robot made, or a request of a caller with a right to act. `changed` says that the request
   * changed something although it failed, such as a lock that the disk refused. If the same act is done twice in a row, the
   * repeats share one line with a count.
   */
  record(event: NewEvent, changed = false): void {
    const { who, outcome = 'done' } = event;
    if (outcome !== 'done' && !changed) {
      this.#quotas.refused.record(event, false);
      return;
    }
    const key = who === undefined ? '' : JSON.stringify(event);
    const isOther = key !== this.#lastDone;
    this.#lastDone = key;
    if (who === undefined) {
      this.noteChange();
      this.#add(event, 'done');
    } else this.#quotas.done.record(event, isOther);
  }

  /**
   * Records a request of a caller without a right to act. `changed` is true if the robot changed something because of
   * it.
   */
  recordOf(bystander: Bystander, event: NewEvent, changed: boolean): void {
    this.#quotas[bystander].record(event, changed);
  }

  /** The events after this number that are still in memory, at most 500. */
  after(seq: number): LogPage {
    const events = Object.values(this.#kept)
      .flat()
      .filter(event => event.seq > seq);
    events.sort((a, b) => a.seq - b.seq);
    return { boot: this.runId, events, dropped: Math.max(0, this.#seq - seq) - events.length };
  }

  close(): void {
    for (const quota of Object.values(this.#quotas)) quota.close();
  }

  #add({ what, unit, who, outcome, detail, error }: NewEvent, group: Group): void {
    this.#seq += 1;
    const event: LogEvent = {
      seq: this.#seq,
      ...timesOf(this.#clock),
      what,
      unit,
      who,
      outcome,
      detail,
    };
    const kept = this.#kept[group];
    kept.push(event);
    if (kept.length > GROUPS[group].kept) kept.shift();
    if (group === 'done') for (const quota of Object.values(this.#quotas)) quota.otherLine();
    this.recorded.emit({ event, error, hasRights: group === 'done' || group === 'refused' });
  }
}

/** Names this run of the daemon, from its start to its end. In log and answers this name is called `boot`. */
export function newRunId(): string {
  return randomBytes(8).toString('hex');
}
