import type { Context } from 'koa';
import type { Access } from '../access/access.js';
import { type Clock, every, type Timer } from '../core/clock.js';
import { RobotError } from '../core/errors.js';
import type { LogEvent } from '../schemas/log.js';
import type { Status } from '../schemas/status.js';
import type { Step } from '../schemas/step.js';
import type { Telemetry } from '../schemas/telemetry.js';
import type { Tune } from '../schemas/tune.js';
import { callerOf } from './authorization.js';

/** Each `on…` returns the act that ends it. */
export interface EventFeed {
  status(): Status;
  /** The status as text, without uptime and bus counters, which always change. Equal texts mean that nothing is new. */
  lasting(): string;
  /** Whether a unit is in another mode than manual. */
  isDriven(): boolean;
  /** Called when something in status may have changed. */
  onStatus(listener: () => void): () => void;
  /** Called at every poll. `t` is in monotonic seconds. */
  onTelemetry(listener: (sample: Telemetry) => void): () => void;
  onStep(listener: (step: Step) => void): () => void;
  /** Called when something is new about a tuning. */
  onTune(listener: (tune: Tune) => void): () => void;
  /** Called with every event of the log. */
  onLog(listener: (event: LogEvent) => void): () => void;
}

const MOST_STREAMS = 32;
/** How many of the streams are kept for those who drive and rule, so that spectators cannot take them all. */
const KEPT_STREAMS = 8;
const COMMENT_MS = 5_000;
/** Changes that come together make one event. */
const COALESCE_MS = 20;
/**
 * Readings that come within it go out in one write, because waking a reader costs more than what is written: two of 50 Hz
 * while a unit drives by itself, five while both are in manual.
 */
const GATHER_S = { driven: 0.03, manual: 0.09 } as const;
/** A browser connects again this soon after its stream broke. */
const RETRY_MS = 300;
/**
 * How many events are kept for a slow reader. Beyond it the reader is cut off; it comes back and asks for what
 * happened.
 */
const MOST_OWED = 50;
/** A reader that takes nothing for so long makes room for others; it may come back. */
const STUCK_MS = 2000;

interface Stream {
  readonly ctx: Context;
  /** The time since which the socket has not drained. */
  slowSinceMs: number | undefined;
  /** The status that was written to it last, as the feed's `lasting` gives it. */
  lastSent: string | undefined;
  /** Events that come once, and that a full socket could not take. */
  readonly owed: string[];
}

export interface Events {
  /** The number of open streams. */
  readonly streams: number;
  /** Turns the answer into a stream. Throws RobotError `too-many-streams`. */
  open(ctx: Context): void;
}

/**
 * Turns answers into streams of one feed, which is listened to only while someone reads, and serialised once for all
 * readers. One stream too many throws RobotError `too-many-streams`. Streams end with their connections.
 */
export function createEvents(
  feed: EventFeed,
  clock: Clock,
  access: Pick<Access, 'callerOf' | 'allows' | 'changed'>,
): Events {
  const streams = new Set<Stream>();
  let stopListening: (() => void) | undefined;

  /**
   * A full socket gets nothing more until it has drained. So a slow reader costs no more memory than what its socket
   * holds and the events that are kept for it.
   */
  const write = (stream: Stream, text: string) => {
    if (stream.slowSinceMs !== undefined) {
      if (clock.nowMs() - stream.slowSinceMs > STUCK_MS) stream.ctx.res.destroy();
      return false;
    }
    if (!stream.ctx.res.write(text)) stream.slowSinceMs = clock.nowMs();
    return true;
  };
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
    if (sample.t - writtenT < (feed.isDriven() ? GATHER_S.driven : GATHER_S.manual)) return;
    writtenT = sample.t;
    writeAll('');
  };
  /**
   * Each stream is compared by itself, since a slow one may have missed what others were sent. One whose socket is full
   * gets the status when it has drained.
   */
  const sendStatus = () => {
    const now = feed.lasting();
    const due = [...streams].filter(stream => stream.slowSinceMs === undefined && stream.lastSent !== now);
    if (due.length === 0) return;
    // The gathered readings are older than this status, so they go first.
    if (readings !== '') writeAll('');
    const text = eventText('status', feed.status());
    for (const stream of due) if (write(stream, text)) stream.lastSent = now;
  };

  const listen = () => {
    readings = '';
    const ends = [
      coalesced(clock, feed, sendStatus),
      feed.onTelemetry(gather),
      feed.onStep(step => writeAll(eventText('step', step))),
      feed.onTune(tune => writeAll(eventText('tune', tune))),
      feed.onLog(event => writeAll(eventText('log', event))),
      access.changed.add(() => {
        for (const { ctx } of streams) if (!access.allows('read', callerOf(access, ctx))) ctx.res.destroy();
      }),
      every(clock, COMMENT_MS, () => {
        for (const stream of streams) write(stream, ':\n\n');
      }),
    ];
    return () => {
      for (const end of ends) end();
    };
  };

  const forget = (stream: Stream) => {
    streams.delete(stream);
    if (streams.size > 0) return;
    stopListening?.();
    stopListening = undefined;
  };

  const open = (ctx: Context) => {
    const { rights } = callerOf(access, ctx);
    const drivesOrRules = rights.some(right => right === 'drive' || right === 'rule');
    const most = drivesOrRules ? MOST_STREAMS : MOST_STREAMS - KEPT_STREAMS;
    if (ctx.method !== 'HEAD' && streams.size >= most) throw new RobotError('too-many-streams');
    ctx.status = 200;
    ctx.type = 'text/event-stream';
    if (ctx.method === 'HEAD') return;
    const stream: Stream = { ctx, slowSinceMs: undefined, lastSent: undefined, owed: [] };
    ctx.respond = false;
    ctx.socket.setNoDelay(true);
    streams.add(stream);
    ctx.res.once('close', () => forget(stream));
    ctx.res.on('error', () => ctx.res.destroy());
    ctx.res.on('drain', () => {
      stream.slowSinceMs = undefined;
      if (stream.owed.length > 0) write(stream, stream.owed.splice(0).join(''));
      sendStatus();
    });
    stopListening ??= listen();
    write(stream, `retry: ${RETRY_MS}\n\n`);
    sendStatus();
  };
  return {
    get streams() {
      return streams.size;
    },
    open,
  };
}

function eventText(event: string, data: unknown): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Acts on changes that come together once. */
function coalesced(clock: Clock, feed: EventFeed, act: () => void): () => void {
  let pending: Timer | undefined;
  const end = feed.onStatus(() => {
    pending ??= clock.after(COALESCE_MS, () => {
      pending = undefined;
      act();
    });
  });
  return () => {
    end();
    pending?.cancel();
  };
}
