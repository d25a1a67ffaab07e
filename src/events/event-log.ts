import { randomBytes } from 'node:crypto';
import type { Clock } from '../core/clock.js';
import { Listeners } from '../core/listeners.js';
import type { Happening, LogEvent, LogPage } from '../schemas/log.js';
import { Acts } from './acts.js';
import { Quota } from './quota.js';

/**
 * The number of events in memory. Refusals have a share of their own, and so have those who may only read and those who
 * have no right at all, so that none of them pushes out what was done.
 */
const MOST = { done: 400, refused: 50, reader: 25, stranger: 25 } as const;
type Share = keyof typeof MOST;

/** A caller who has no right to act: one whose token only gives the right to read, or one without any right. */
export type Bystander = 'reader' | 'stranger';

export interface Recorded {
  readonly event: LogEvent;
  /** False if it is about bystanders. */
  readonly hasRights: boolean;
}

/** Makes every event: what was asked of the robot, and what it did by itself. */
export class EventLog {
  readonly runId: string;
  readonly recorded = new Listeners<Recorded>();
  readonly #clock: Clock;
  readonly #acts: Acts;
  readonly #quotas: Readonly<Record<Bystander, Quota>>;
  readonly #kept: Record<Share, LogEvent[]> = { done: [], refused: [], reader: [], stranger: [] };
  #seq: number;
  #changes = 0;

  /** Numbers go on after `lastSeq`, the last one of the daemon's run before. */
  constructor(clock: Clock, { runId = newRunId(), lastSeq = 0 }: { runId?: string; lastSeq?: number } = {}) {
    this.runId = runId;
    this.#clock = clock;
    this.#seq = lastSeq;
    this.#acts = new Acts(clock, event => {
      this.#add(event, isRefusal(event) ? 'refused' : 'done');
      for (const quota of Object.values(this.#quotas)) quota.otherLine();
    });
    this.#quotas = {
      reader: new Quota(clock, event => this.#add(event, 'reader')),
      stranger: new Quota(clock, event => this.#add(event, 'stranger')),
    };
  }

  /** How many changes the robot has made, whoever asked for them. */
  get changes(): number {
    return this.#changes;
  }

  /** Records what the robot did by itself, or what a caller with a right to act asked for. */
  record(event: Happening): void {
    if (event.who === undefined) this.#changes += 1;
    this.#acts.record(event);
  }

  /** Records what a bystander asked for. `changed` says that the robot changed something for it. */
  recordOf(bystander: Bystander, event: Happening, changed: boolean): void {
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
    this.#acts.close();
    for (const quota of Object.values(this.#quotas)) quota.close();
  }

  #add(happening: Happening, share: Share): void {
    this.#seq += 1;
    const event: LogEvent = {
      seq: this.#seq,
      t: Math.round(this.#clock.nowMs()) / 1000,
      at: this.#clock.wallTime().toISOString(),
      ...happening,
    };
    const kept = this.#kept[share];
    kept.push(event);
    if (kept.length > MOST[share]) kept.shift();
    this.recorded.emit({ event, hasRights: share === 'done' || share === 'refused' });
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
