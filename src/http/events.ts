import type { Context } from 'koa';
import type { Access } from '../access/access.js';
import { type Clock, every } from '../core/clock.js';
import { RobotError } from '../core/errors.js';
import type { Listeners } from '../core/listeners.js';
import type { LogEvent } from '../schemas/log.js';
import type { Status } from '../schemas/status.js';
import type { Step } from '../schemas/step.js';
import type { Telemetry } from '../schemas/telemetry.js';
import type { Tune } from '../schemas/tune.js';
import { headersOf } from './answer.js';
import { callerOf } from './authorization.js';
import type { Contain } from './contain.js';

type Source<T> = Pick<Listeners<T>, 'add'>;

/** What event streams send. */
export interface EventSources {
  /** `streams`: the number of open streams. */
  status(streams: number): Status;
  readonly telemetry: Source<Telemetry>;
  readonly step: Source<Step>;
  readonly tune: Source<Tune>;
  readonly log: Source<{ readonly event: LogEvent }>;
}

/** A caller gets a stream if fewer streams than this are open. The number depends on the caller's strongest right. */
const MOST_STREAMS = { rule: 32, drive: 28, read: 24 } as const;
const COMMENT_MS = 5_000;
/** Streams check this often whether the status changed. Changes in between share one event. */
const COMPARE_MS = 40;
/** Readings within this time go out in one write: two readings at 50 Hz. */
const GATHER_S = 0.03;
/** A browser reconnects this soon after its stream ended. */
const RETRY_MS = 300;
/** The number of events kept for a slow reader. If there are more, its stream ends and the reader reconnects. */
const MOST_OWED = 50;
/** A stream ends if its reader takes nothing for this long. */
const STUCK_MS = 2000;

interface Stream {
  readonly ctx: Context;
  /** The time at which the socket became full (Clock milliseconds). Undefined if it is not full. */
  slowSinceMs: number | undefined;
  /** The last status that was written, as `lastingText` gives it. */
  lastSent: string | undefined;
  /** Events that the full socket could not take. Readings and status are not kept, because newer ones replace them. */
  readonly owed: string[];
}

export type Events = ReturnType<typeof createEvents>;

/**
 * Server-sent events. Listens to its sources only while a stream is open, and writes the same text to all
 * streams.
 */
export function createEvents(
  sources: EventSources,
  clock: Clock,
  access: Pick<Access, 'callerOf' | 'allows' | 'changed'>,
  contain: Contain,
) {
  const streams = new Set<Stream>();
  let stopListening: (() => void) | undefined;

  /** Returns false if the socket is full. A slow reader costs no more memory than its socket and its pending events. */
  const write = (stream: Stream, text: string) => {
    if (stream.slowSinceMs !== undefined) {
      if (clock.nowMs() - stream.slowSinceMs > STUCK_MS) stream.ctx.res.destroy();
      return false;
    }
    if (!stream.ctx.res.write(text)) stream.slowSinceMs = clock.nowMs();
    return true;
  };
  /** Readings that wait for the next write. */
  let readings = '';
  /** The `t` of the newest readings that were sent. */
  let writtenT = 0;
  const writeAll = (text: string) => {
    const all = readings + text;
    readings = '';
    for (const stream of streams) {
      if (write(stream, all)) continue;
      if (text !== '') stream.owed.push(text);
      if (stream.owed.length > MOST_OWED) stream.ctx.res.destroy();
    }
  };
  const gather = (sample: Telemetry) => {
    readings += eventText('telemetry', sample);
    if (sample.t - writtenT < GATHER_S) return;
    writtenT = sample.t;
    writeAll('');
  };
  /** Sends the status to each stream that does not have it yet. A stream with a full socket gets it after `drain`. */
  const sendStatus = () => {
    const status = sources.status(streams.size);
    const now = lastingText(status);
    const due = [...streams].filter(stream => stream.slowSinceMs === undefined && stream.lastSent !== now);
    if (due.length === 0) return;
    // These readings are older than the status, so they are sent first.
    if (readings !== '') writeAll('');
    const text = eventText('status', status);
    for (const stream of due) if (write(stream, text)) stream.lastSent = now;
  };

  const sendComment = () => {
    for (const stream of streams) write(stream, ':\n\n');
  };
  const endForbidden = () => {
    for (const { ctx } of streams) if (!access.allows('read', callerOf(access, ctx))) ctx.res.destroy();
  };

  const listen = () => {
    readings = '';
    const ends = [
      every(clock, COMPARE_MS, contain(sendStatus)),
      sources.telemetry.add(contain(gather)),
      sources.step.add(contain(step => writeAll(eventText('step', step)))),
      sources.tune.add(contain(tune => writeAll(eventText('tune', tune)))),
      sources.log.add(contain(({ event }) => writeAll(eventText('log', event)))),
      access.changed.add(contain(endForbidden)),
      every(clock, COMMENT_MS, contain(sendComment)),
    ];
    return () => {
      for (const end of ends) end();
    };
  };

  /** Turns the answer into a stream. Throws `too-many-streams`. */
  const open = (ctx: Context) => {
    // The caller hung up while this read waited for its turn. `close` will not be emitted again.
    if (ctx.res.closed) return;
    const { rights } = callerOf(access, ctx);
    const right = (['rule', 'drive'] as const).find(one => rights.includes(one)) ?? 'read';
    if (ctx.method !== 'HEAD' && streams.size >= MOST_STREAMS[right])
      throw new RobotError('too-many-streams');
    ctx.status = 200;
    ctx.set({ ...headersOf(ctx), 'Content-Type': 'text/event-stream; charset=utf-8' });
    if (ctx.method === 'HEAD') return;
    const stream: Stream = { ctx, slowSinceMs: undefined, lastSent: undefined, owed: [] };
    ctx.respond = false;
    ctx.socket.setNoDelay(true);
    streams.add(stream);
    const drained = () => {
      stream.slowSinceMs = undefined;
      if (stream.owed.length > 0) write(stream, stream.owed.splice(0).join(''));
      sendStatus();
    };
    const closed = () => {
      streams.delete(stream);
      if (streams.size > 0) return;
      stopListening?.();
      stopListening = undefined;
    };
    const failed = () => ctx.res.destroy();
    ctx.res.once('close', contain(closed)).on('error', contain(failed)).on('drain', contain(drained));
    stopListening ??= listen();
    write(stream, `retry: ${RETRY_MS}\n\n`);
    sendStatus();
  };
  return {
    /** The number of open streams. */
    get streams() {
      return streams.size;
    },
    open,
  };
}

/** Uptime and bus counters change constantly and need no event. */
function lastingText(status: Status): string {
  return JSON.stringify({ ...status, uptimeS: undefined, bus: undefined });
}

function eventText(event: string, data: unknown): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
