import { randomBytes } from 'node:crypto';
import type { Clock } from '../core/clock.js';
import { Listeners } from '../core/listeners.js';
import type { LogEvent, LogPage, NewEvent } from '../schemas/log.js';
import { keyOf, Quota, withCount } from './quota.js';
import { Repeats } from './repeats.js';

/** The number of events in memory. Each group has its own limit, so that no group pushes out the events of another. */
const MOST = { done: 400, refused: 50, reader: 25, stranger: 25 } as const;
type Share = keyof typeof MOST;

/** A caller who has no right to act: one whose token only gives the right to read, or one without any right. */
export type Bystander = 'reader' | 'stranger';

export interface Recorded {
  readonly event: LogEvent;
  readonly error: unknown;
  /** False if it is about bystanders. */
  readonly hasRights: boolean;
}

/** Numbers and keeps all events: requests of callers, and changes that the robot made. */
export class EventLog {
  readonly runId: string;
  readonly recorded = new Listeners<Recorded>();
  readonly #clock: Clock;
  readonly #repeats: Repeats<NewEvent>;
  readonly #quotas: Readonly<Record<'refused' | Bystander, Quota>>;
  readonly #kept: Record<Share, LogEvent[]> = { done: [], refused: [], reader: [], stranger: [] };
  /** The key of the last act that was done; empty after a change that the robot made. */
  #lastDone = '';
  #seq: number;
  #changes = 0;

  /** The first event gets the number after `lastSeq`. */
  constructor(clock: Clock, { runId = newRunId(), lastSeq = 0 }: { runId?: string; lastSeq?: number } = {}) {
    this.runId = runId;
    this.#clock = clock;
    this.#seq = lastSeq;
    this.#repeats = new Repeats(clock, (event, repeats) => this.#add(withCount(event, repeats), 'done'));
    const quota = (most: number, share: Share) => new Quota(clock, most, event => this.#add(event, share));
    this.#quotas = {
      refused: quota(200, 'refused'),
      reader: quota(100, 'reader'),
      stranger: quota(32, 'stranger'),
    };
  }

  /** The number of changes that the robot has made. */
  get changes(): number {
    return this.#changes;
  }

  /**
   * Records a change that the robot made, or a request of a caller with a right to act. If the same act is done twice in a
   * row, the repeats share one line with a count.
   */
  record(event: NewEvent): void {
    if (event.outcome !== undefined && event.outcome !== 'done') {
      this.#quotas.refused.record(event, false);
      return;
    }
    const isAct = event.who !== undefined;
    const key = isAct ? keyOf(event) : '';
    if (!isAct) this.#changes += 1;
    else if (key === this.#lastDone && this.#repeats.count(key)) return;
    this.#repeats.end(key);
    this.#lastDone = key;
    this.#add(event, 'done');
    if (isAct) this.#repeats.begin(key, event);
  }

  /** Records a request of a bystander. `changed` is true if the robot changed something because of it. */
  recordOf(bystander: Bystander, event: NewEvent, changed: boolean): void {
    this.#quotas[bystander].record(event, changed);
  }

  /** The events with higher numbers, at most 500, for no more are kept in memory. */
  after(seq: number): LogPage {
    const events = Object.values(this.#kept)
      .flat()
      .filter(event => event.seq > seq);
    events.sort((a, b) => a.seq - b.seq);
    return { boot: this.runId, events, dropped: Math.max(0, this.#seq - seq) - events.length };
  }

  close(): void {
    this.#repeats.close();
    for (const quota of Object.values(this.#quotas)) quota.close();
  }

  #add({ what, unit, who, outcome, detail, error }: NewEvent, share: Share): void {
    this.#seq += 1;
    const event: LogEvent = {
      seq: this.#seq,
      t: Math.round(this.#clock.nowMs()) / 1000,
      at: this.#clock.wallTime().toISOString(),
      what,
      ...(unit !== undefined && { unit }),
      ...(who !== undefined && { who }),
      ...(outcome !== undefined && { outcome }),
      ...(detail !== undefined && { detail }),
    };
    const kept = this.#kept[share];
    kept.push(event);
    if (kept.length > MOST[share]) kept.shift();
    if (share === 'done') for (const quota of Object.values(this.#quotas)) quota.otherLine();
    this.recorded.emit({ event, error, hasRights: share === 'done' || share === 'refused' });
  }
}

/** A name for this run of the daemon, from its start to its end. In the log and its answers it is called `boot`. */
export function newRunId(): string {
  return randomBytes(8).toString('hex');
}
